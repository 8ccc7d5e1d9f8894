// The table `access` of a tunnel in the control API: secrets go in, passwords are stored as hashes, and no secret comes out.

import { isRecord } from '@svc/sdk-core'
import { AgentError } from '../../agent/errors.ts'
import type { FieldChanges } from '../config/edit-toml.ts'
import type { TomlTable } from '../config/toml.ts'
import { isElsewhere } from '../options/secret.ts'

/** The fields of `[tunnel.access]` that are secrets, beside the passwords in `users`. */
const SECRETS: ReadonlySet<string> = new Set(['password', 'bearer', 'oidc_client_secret'])
/** The option `access` that checks each field. */
const CHECKED: Readonly<Record<string, string>> = {
  password: 'password',
  bearer: 'bearer',
  users: 'users',
  knock: 'knock',
  allow_ip: 'allowIp',
  deny_ip: 'denyIp',
  expires: 'expires',
  once: 'once',
  max_visitors: 'maxVisitors',
  rate: 'rate',
}

type CheckAccess = typeof import('@svc/sdk-core/access')['checkAccess']

/** Stands for a secret that is in a file or the environment, and is read when the tunnel starts. */
const UNREAD = 'secret-that-is-elsewhere'

/** Returns the fields of a tunnel, or of the head of the file, with `true` in place of each secret. */
export function withoutSecrets(fields: TomlTable): TomlTable {
  const shown = Object.entries(fields).map(([field, value]) => {
    if (field === 'invitation' || field === 'acme_eab') return [field, true]
    // The URL of a proxy may have a password.
    if (field === 'proxy' && String(value).includes('@')) return [field, true]
    if (field === 'webhooks' && isRecord(value)) return [field, eachHidden(value)]
    return field === 'access' && isRecord(value) ? [field, hidden(value)] : [field, value]
  })
  return Object.fromEntries(shown)
}

function hidden(access: TomlTable): TomlTable {
  const shown = Object.entries(access).map(([field, value]) => {
    if (SECRETS.has(field)) return [field, true]
    if (field !== 'users' || !isRecord(value)) return [field, value]
    return [field, eachHidden(value)]
  })
  return Object.fromEntries(shown)
}

function eachHidden(secrets: TomlTable): TomlTable {
  return Object.fromEntries(Object.keys(secrets).map((name) => [name, true]))
}

/**
 * Resolves with the fields to write: those of `access` are checked, and its passwords are hashes.
 * @throws AgentError `invalid_request` that names the field
 */
export async function storableFields(changes: FieldChanges): Promise<FieldChanges> {
  const { access } = changes
  if (!isRecord(access)) return changes
  // Code of access, which not every agent needs.
  const [{ checkAccess, storedPassword }, { scrypt }] = await Promise.all([
    import('@svc/sdk-core/access'),
    import('../../scrypt.ts'),
  ])
  check(access, checkAccess)
  const hashed = async (password: string): Promise<string> =>
    isStorable(password) ? password : await storedPassword(password, scrypt)
  const stored = { ...access }
  if (typeof access.password === 'string') stored.password = await hashed(access.password)
  if (isRecord(access.users)) {
    const users: [string, unknown][] = []
    for (const [name, password] of Object.entries(access.users))
      users.push([name, typeof password === 'string' ? await hashed(password) : password])
    stored.users = Object.fromEntries(users)
  }
  return { ...changes, access: stored }
}

/** Returns the changes with the whole table `access` as it will be; null when nothing is left in it. */
export function withWholeAccess(before: TomlTable | undefined, changes: FieldChanges): FieldChanges {
  const { access } = changes
  if (!isRecord(access)) return changes
  const old = isRecord(before?.access) ? before.access : {}
  const oldUsers = isRecord(old.users) ? old.users : {}
  const users = isRecord(access.users) ? merged(oldUsers, access.users) : access.users
  return { ...changes, access: merged(old, 'users' in access ? { ...access, users } : access) }
}

function merged(before: TomlTable, changes: TomlTable): TomlTable | null {
  const left = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  return left.length > 0 ? Object.fromEntries(left) : null
}

function check(access: TomlTable, checkAccess: CheckAccess): void {
  const given = Object.entries(access).flatMap(([field, value]): [string, unknown][] => {
    const option = Object.hasOwn(CHECKED, field) ? CHECKED[field] : undefined
    return option === undefined || value === null ? [] : [[option, readable(value)]]
  })
  // A table that lets everybody in is one that is removed.
  if (given.every(([, value]) => value === false)) return
  try {
    checkAccess(Object.fromEntries(given), true)
  } catch (cause) {
    const { message } = cause as Error
    const text = message.replace(/access\.\w+/, (name) =>
      name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
    )
    throw new AgentError('invalid_request', text, cause)
  }
}

/** Returns a value with something in place of each secret that is elsewhere, and without users who are removed. */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return isElsewhere(value) ? UNREAD : value
  if (!isRecord(value)) return value
  const left = Object.entries(value).filter(([, password]) => password !== null)
  return Object.fromEntries(left.map(([name, password]) => [name, readable(password)]))
}

/** Returns whether a password can stay as it is: it is a hash, or elsewhere. */
function isStorable(password: string): boolean {
  return isElsewhere(password) || password.startsWith('scrypt:')
}
