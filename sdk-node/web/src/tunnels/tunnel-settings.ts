// Converts between a tunnel's fields in svc.toml and the form, and computes the changes.

import type { AccessChanges, SettingValue, TunnelSettings } from '../../../src/agent/api-messages.ts'
import { type AccessFields, accessChanges, accessFieldsOf, otherAccessFields } from './access-settings.ts'
import { textOf, wordsOf } from './words.ts'

/** The kinds of targets, each by its field in svc.toml. */
export const KINDS = ['http', 'folder', 'tcp', 'udp', 'tls'] as const
type Kind = (typeof KINDS)[number]

/** The authority unless the file names another one. */
const AUTHORITY = 'Let’s Encrypt'

export type TunnelChanges = Record<string, SettingValue | AccessChanges | null>

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
  /** Custom domains, separated by spaces. */
  domains: string
  /** The owner agrees to the terms of the authority. */
  agreesTerms: boolean
  access: AccessFields
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
  'domains',
  'acme_agree_terms',
  'access',
])

/** Returns whether who may come in can be decided: visitors of the others send no requests. */
export function hasAccess(kind: Kind): boolean {
  return kind === 'http' || kind === 'folder'
}

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
    domains: textOf(settings.domains),
    agreesTerms: settings.acme_agree_terms === true,
    access: accessFieldsOf(settings.access),
  }
}

/** @returns the names of the file's fields that the form does not change */
export function otherFields(settings: TunnelSettings): string[] {
  const { kind } = formOf(settings)
  const own = Object.keys(settings).filter(
    (name) => !SHOWN.has(name) || (KINDS.includes(name as Kind) && name !== kind),
  )
  return [...own, ...otherAccessFields(settings.access).map((name) => `access.${name}`)]
}

/**
 * @param now in milliseconds since the epoch
 * @returns the fields of a new tunnel
 */
export function settingsOf(form: FormFields, now: number): TunnelChanges {
  const fields = Object.entries(valuesOf(form)).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(fields), ...accessOf(undefined, form, now) }
}

/**
 * @param now in milliseconds since the epoch
 * @returns the changed fields: new values, and null for removed ones
 */
export function changesOf(before: TunnelSettings, form: FormFields, now: number): TunnelChanges {
  const was: Record<string, SettingValue | null> = valuesOf(formOf(before))
  const entries = Object.entries(valuesOf(form)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
  )
  const { kind } = formOf(before)
  return {
    ...(kind !== form.kind && { [kind]: null }),
    ...Object.fromEntries(entries),
    ...accessOf(before.access, form, now),
  }
}

function accessOf(before: SettingValue | undefined, form: FormFields, now: number): TunnelChanges {
  if (!hasAccess(form.kind)) return before === undefined ? {} : { access: null }
  const access = accessChanges(before, form.access, now)
  return access === undefined ? {} : { access }
}

/** Returns the fields of the form in the file's format; null for missing ones. */
function valuesOf(form: FormFields): Record<string, SettingValue | null> {
  const { kind, target, listed, listing } = form
  const relays = wordsOf(form.relay)
  const tags = wordsOf(form.tags)
  const domains = domainsOf(form)
  return {
    name: form.name.trim() || null,
    [kind]: targetOf(kind, target.trim()),
    host: (kind === 'http' && form.host.trim()) || null,
    relay: relays.length > 1 ? relays : (relays[0] ?? null),
    description: form.description.trim() || null,
    tags: tags.length > 0 ? tags : null,
    listed: listed || null,
    listing: (kind === 'folder' && listing) || null,
    domains: domains.length > 0 ? domains : null,
    acme_agree_terms: (domains.length > 0 && form.agreesTerms) || null,
  }
}

/** Returns the domains of the form. Visitors of the other kinds see no certificate of a domain. */
export function domainsOf({ kind, domains }: FormFields): string[] {
  return hasAccess(kind) ? wordsOf(domains) : []
}

/**
 * Returns the host of the authority whose terms have to be agreed to; undefined when certificates are brought.
 * @param shared the fields for all tunnels, which count where the tunnel has none
 */
export function authorityOf(settings: TunnelSettings = {}, shared: TunnelSettings = {}): string | undefined {
  if (settings.domain_certificate !== undefined) return undefined
  const directory = textOf(settings.acme_directory ?? shared.acme_directory)
  return URL.parse(directory)?.host ?? AUTHORITY
}

/** A port is a number in the file. */
function targetOf(kind: Kind, target: string): SettingValue | null {
  if (target === '') return null
  return kind !== 'folder' && /^\d+$/.test(target) ? Number(target) : target
}
