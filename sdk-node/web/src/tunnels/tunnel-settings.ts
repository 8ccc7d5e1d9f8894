// Converts between a tunnel's fields in svc.toml and the form, and computes the changes.

import type { SettingValue, TunnelSettings } from '../../../src/agent/api-messages.ts'

/** The kinds of targets, each by its field in svc.toml. */
export const KINDS = ['http', 'folder', 'tcp', 'udp', 'tls'] as const
type Kind = (typeof KINDS)[number]

export interface FormFields {
  name: string
  kind: Kind
  target: string
  /** The host that an HTTP server sees; empty for the default. */
  host: string
  /** URLs, separated by spaces; empty for the relays at the head of the file. */
  relay: string
  description: string
  /** Words, separated by spaces. */
  tags: string
  listed: boolean
  listing: boolean
}

/** Fields that the form shows. */
const SHOWN: ReadonlySet<string> = new Set([
  ...KINDS,
  'name',
  'host',
  'relay',
  'description',
  'tags',
  'listed',
  'listing',
  'paused',
])

export function formOf(settings: TunnelSettings = {}): FormFields {
  const kind = KINDS.find((one) => settings[one] !== undefined) ?? 'http'
  return {
    name: textOf(settings.name),
    kind,
    target: textOf(settings[kind]),
    host: textOf(settings.host),
    relay: textOf(settings.relay),
    description: textOf(settings.description),
    tags: textOf(settings.tags),
    listed: settings.listed === true,
    listing: settings.listing === true,
  }
}

/** @returns the names of the file's fields that the form does not change */
export function otherFields(settings: TunnelSettings): string[] {
  const { kind } = formOf(settings)
  return Object.keys(settings).filter(
    (name) => !SHOWN.has(name) || (KINDS.includes(name as Kind) && name !== kind),
  )
}

/** @returns the fields of a new tunnel */
export function settingsOf(form: FormFields): TunnelSettings {
  return Object.fromEntries(
    Object.entries(valuesOf(form)).filter((entry): entry is [string, SettingValue] => entry[1] !== null),
  )
}

/** @returns the changed fields: new values, and null for removed ones */
export function changesOf(before: TunnelSettings, form: FormFields): Record<string, SettingValue | null> {
  const was: Record<string, SettingValue | null> = valuesOf(formOf(before))
  const entries = Object.entries(valuesOf(form)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
  )
  const { kind } = formOf(before)
  return { ...(kind !== form.kind && { [kind]: null }), ...Object.fromEntries(entries) }
}

/** Returns the fields of the form in the file's format; null for missing ones. */
function valuesOf(form: FormFields): Record<string, SettingValue | null> {
  const { kind, target, listed, listing } = form
  const relays = wordsOf(form.relay)
  const tags = wordsOf(form.tags)
  return {
    name: form.name.trim() || null,
    [kind]: targetOf(kind, target.trim()),
    host: (kind === 'http' && form.host.trim()) || null,
    relay: relays.length > 1 ? relays : (relays[0] ?? null),
    description: form.description.trim() || null,
    tags: tags.length > 0 ? tags : null,
    listed: listed || null,
    listing: (kind === 'folder' && listing) || null,
  }
}

/** A port is a number in the file. */
function targetOf(kind: Kind, target: string): SettingValue | null {
  if (target === '') return null
  return kind !== 'folder' && /^\d+$/.test(target) ? Number(target) : target
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

function textOf(value: SettingValue | undefined): string {
  if (value === undefined) return ''
  return Array.isArray(value) ? value.join(' ') : String(value)
}
