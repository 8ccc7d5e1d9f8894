// Converts between the table `access` of a tunnel in svc.toml and the form, and computes the changes. The agent shows no secret: it says
// `true` of one that is set.

import type { AccessChanges, SettingValue } from '../../../src/agent/api-messages.ts'
import { textOf, wordsOf } from './words.ts'

/** A secret in the form. */
export interface Secret {
  /** svc.toml has one. */
  isSet: boolean
  /** What to do with that one. */
  change: 'keep' | 'replace' | 'remove'
  /** The new one; empty for none. */
  text: string
}

export interface User extends Secret {
  /** Tells the lines of the form apart. */
  id: number
  name: string
}

/** When the tunnel ends: as the file has it, never, a number of hours from now, or at a time. */
export type End = 'kept' | 'never' | '1' | '8' | '24' | 'at'

export interface AccessFields {
  password: Secret
  users: readonly User[]
  bearer: Secret
  /** The URL of an issuer of OpenID Connect; empty for none. The other fields of it count with it alone. */
  oidc: string
  oidcClientId: string
  oidcSecret: Secret
  /** Words, separated by spaces. */
  oidcAllow: string
  /** Separated by commas: names of groups may have spaces. */
  oidcGroups: string
  knock: boolean
  /** Words, separated by spaces. */
  allowIp: string
  denyIp: string
  end: End
  /** The end in the file; empty for none. */
  expires: string
  /** The local time of a new end, as an input of the type `datetime-local` has it. */
  endAt: string
  once: boolean
  maxVisitors: string
  rate: string
}

/** A field of the form, by its name in svc.toml, and what is wrong with it. */
export interface Fault {
  field: string
  text: string
}

const HOUR_MS = 3_600_000
/** The fields of svc.toml that the form shows. */
const SHOWN: ReadonlySet<string> = new Set([
  'password',
  'users',
  'bearer',
  'oidc',
  'oidc_client_id',
  'oidc_client_secret',
  'oidc_allow',
  'oidc_groups',
  'knock',
  'allow_ip',
  'deny_ip',
  'expires',
  'once',
  'max_visitors',
  'rate',
])

/** Fields of OpenID Connect that the form does not show, and that go with the issuer. */
const OIDC_REST = ['oidc_groups_claim', 'oidc_scopes']

export function secretOf(isSet: boolean): Secret {
  return { isSet, change: 'keep', text: '' }
}

export function accessFieldsOf(setting: SettingValue | undefined): AccessFields {
  const access = tableOf(setting)
  const expires = textOf(access.expires)
  return {
    password: secretOf(access.password !== undefined),
    users: Object.keys(tableOf(access.users)).map((name, id) => ({ id, name, ...secretOf(true) })),
    bearer: secretOf(access.bearer !== undefined),
    oidc: textOf(access.oidc),
    oidcClientId: textOf(access.oidc_client_id),
    oidcSecret: secretOf(access.oidc_client_secret !== undefined),
    oidcAllow: textOf(access.oidc_allow),
    oidcGroups: [access.oidc_groups ?? []].flat().join(', '),
    knock: access.knock === true,
    allowIp: textOf(access.allow_ip),
    denyIp: textOf(access.deny_ip),
    end: expires === '' ? 'never' : 'kept',
    expires,
    endAt: '',
    once: access.once === true,
    maxVisitors: textOf(access.max_visitors),
    rate: textOf(access.rate),
  }
}

/** @returns the fields of the file's table that the form does not change */
export function otherAccessFields(setting: SettingValue | undefined): string[] {
  return Object.keys(tableOf(setting)).filter((name) => !SHOWN.has(name))
}

/**
 * @param now in milliseconds since the epoch
 * @returns the changed fields, and null for removed ones; undefined when nothing was changed
 */
export function accessChanges(
  before: SettingValue | undefined,
  fields: AccessFields,
  now: number,
): AccessChanges | undefined {
  const was = plainValues(accessFieldsOf(before))
  const plain = Object.entries(plainValues(fields)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
  )
  const users = fields.users.flatMap((user): [string, string | null][] => {
    const text = changeOf(user)
    return text === undefined ? [] : [[user.name.trim(), text]]
  })
  const changes: AccessChanges = {
    ...secretChange('password', fields.password),
    ...(users.length > 0 && { users: Object.fromEntries(users) }),
    ...secretChange('bearer', fields.bearer),
    ...oidcRest(before, fields),
    ...endChange(fields, now),
    ...Object.fromEntries(plain),
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/** @returns the new secret, null for one that is removed, and undefined for no change */
function changeOf({ isSet, change, text }: Secret): string | null | undefined {
  if (isSet && change === 'remove') return null
  if (isSet && change === 'keep') return undefined
  return text === '' ? undefined : text
}

function secretChange(name: string, secret: Secret): AccessChanges {
  const text = changeOf(secret)
  return text === undefined ? {} : { [name]: text }
}

/** Without an issuer, nothing of it stays. */
function oidcRest(before: SettingValue | undefined, { oidc, oidcSecret }: AccessFields): AccessChanges {
  if (oidc.trim() !== '') return secretChange('oidc_client_secret', oidcSecret)
  const left = ['oidc_client_secret', ...OIDC_REST].filter((field) => tableOf(before)[field] !== undefined)
  return Object.fromEntries(left.map((field) => [field, null]))
}

/** An end is written as a time: hours would begin anew with each start of the tunnel. */
function endChange({ end, endAt, expires }: AccessFields, now: number): AccessChanges {
  if (end === 'kept') return {}
  if (end === 'never') return expires === '' ? {} : { expires: null }
  const at = end === 'at' ? new Date(endAt) : new Date(now + Number(end) * HOUR_MS)
  return { expires: at.toISOString() }
}

function plainValues(fields: AccessFields): AccessChanges {
  const { knock, allowIp, denyIp, once, maxVisitors, rate, oidc, oidcClientId, oidcAllow, oidcGroups } =
    fields
  const issuer = oidc.trim() || null
  return {
    oidc: issuer,
    oidc_client_id: (issuer && oidcClientId.trim()) || null,
    oidc_allow: issuer && listOf(oidcAllow),
    oidc_groups: issuer && groupsOf(oidcGroups),
    knock: knock || null,
    allow_ip: listOf(allowIp),
    deny_ip: listOf(denyIp),
    once: once || null,
    max_visitors: maxVisitors.trim() === '' ? null : numberOf(maxVisitors),
    rate: rate.trim() || null,
  }
}

/** A text that is no number stays one, which the agent refuses. */
function numberOf(text: string): number | string {
  return /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : text
}

function listOf(text: string): string[] | null {
  const words = wordsOf(text)
  return words.length > 0 ? words : null
}

function groupsOf(text: string): string[] | null {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.length > 0 ? names : null
}

interface MissingTexts {
  secret: string
  name: string
  twice: string
  time: string
  issuer: string
  clientId: string
  allow: string
}

/** @returns what is missing in the form; undefined for nothing */
export function missingIn(fields: AccessFields, texts: MissingTexts): Fault | undefined {
  const { password, bearer, users, end, endAt } = fields
  for (const [field, secret] of Object.entries({ password, bearer }))
    if (isEmptied(secret)) return { field, text: texts.secret }
  for (const user of users) {
    const field = `users-${user.id}`
    if (isEmptied(user) || (!user.isSet && user.text === '')) return { field, text: texts.secret }
    if (user.name.trim() === '') return { field: `${field}-name`, text: texts.name }
    const isTwice = users.some(({ id, name }) => id < user.id && name.trim() === user.name.trim())
    if (isTwice) return { field: `${field}-name`, text: texts.twice }
  }
  const oidc = missingForOidc(fields, texts)
  if (oidc !== undefined) return oidc
  if (end === 'at' && Number.isNaN(Date.parse(endAt))) return { field: 'expires', text: texts.time }
  return undefined
}

function missingForOidc(
  { oidc, oidcClientId, oidcSecret, oidcAllow, oidcGroups }: AccessFields,
  texts: MissingTexts,
): Fault | undefined {
  if (oidc.trim() === '') return undefined
  const url = URL.parse(oidc.trim())
  // The plain form is for an issuer on the agent's machine, which checks it.
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { field: 'oidc', text: texts.issuer }
  if (oidcClientId.trim() === '') return { field: 'oidc_client_id', text: texts.clientId }
  if (isEmptied(oidcSecret)) return { field: 'oidc_client_secret', text: texts.secret }
  if (oidcAllow.trim() === '' && groupsOf(oidcGroups) === null)
    return { field: 'oidc_allow', text: texts.allow }
  return undefined
}

function isEmptied({ isSet, change, text }: Secret): boolean {
  return isSet && change === 'replace' && text === ''
}

/** @returns the field of `access` that a message of the agent is about; undefined for another one */
export function faultOf(message: string): Fault | undefined {
  const [, field] = /^access\.(\w+)/.exec(message) ?? []
  return field === undefined || !SHOWN.has(field)
    ? undefined
    : { field, text: message.slice('access.'.length) }
}

function tableOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
