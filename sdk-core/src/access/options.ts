// The options of `access`, checked when the site is made.

import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'
import { PASSWORD_MAX_CHARS, TOKEN_MIN_CHARS } from './limits.ts'
import { parseStored, type StoredPassword } from './password-hash.ts'

/**
 * AccessOptions say who may come to a site. With several of `password`, `users` and `bearer`, each lets in. A password is plain text or, in
 * Node, `scrypt:…` as `svc hash-password` prints it.
 */
export interface AccessOptions {
  /**
   * The password of all visitors.
   * @default none
   */
  password?: string | undefined
  /**
   * The password of each user name.
   * @default none
   */
  users?: Readonly<Record<string, string>> | undefined
  /**
   * A token that a program sends as `Authorization: Bearer TOKEN` (RFC 6750), of 16 characters or more.
   * @default none
   */
  bearer?: string | undefined
}

/** A Password is plain, or stored as a hash. */
export type Password = string | StoredPassword

/** The checked options. */
export interface CheckedAccess {
  password: Password | undefined
  users: ReadonlyMap<string, Password>
  bearer: string | undefined
}

const NAMES: Readonly<Record<keyof AccessOptions, true>> = { password: true, users: true, bearer: true }

/** A token68 (RFC 9110 §11.2). */
const TOKEN = /^[a-z0-9\-._~+/]+=*$/i
/** A user name has no colon (RFC 7617 §2), and no text has control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the patterns look for them
const USER = /^[^\0-\x1f\x7f:]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the patterns look for them
const PRINTABLE = /^[^\0-\x1f\x7f]+$/

/**
 * @param hasScrypt whether the platform can check stored passwords
 * @throws SvcError `invalid_option` that names the option
 */
export function checkAccess(options: AccessOptions, hasScrypt: boolean): CheckedAccess {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(NAMES, name)) throw wrong(`there is no option access.${name}`)
  const { password, users = {}, bearer } = options
  if (!isRecord(users)) throw wrong('access.users must be an object: the password of each name')
  if (bearer !== undefined) checkToken(bearer)
  const checked = {
    password: password === undefined ? undefined : checkPassword(password, 'access.password', hasScrypt),
    users: new Map(Object.entries(users).map((user) => checkUser(...user, hasScrypt))),
    bearer,
  }
  if (checked.password === undefined && checked.users.size === 0 && bearer === undefined)
    throw wrong('access has to say who may come in: password, users or bearer')
  return checked
}

function checkUser(name: string, password: unknown, hasScrypt: boolean): [string, Password] {
  if (!USER.test(name) || name.length > PASSWORD_MAX_CHARS)
    throw wrong(`access.users: ${JSON.stringify(name)} is no user name: it must not be empty or have a colon`)
  return [name.normalize('NFC'), checkPassword(password, `access.users: the password of ${name}`, hasScrypt)]
}

/** The message never has the password. */
function checkPassword(password: unknown, what: string, hasScrypt: boolean): Password {
  if (typeof password !== 'string' || !PRINTABLE.test(password) || password.length > PASSWORD_MAX_CHARS)
    throw wrong(`${what} must be a text of 1 to ${PASSWORD_MAX_CHARS} characters on one line`)
  if (!password.startsWith('scrypt:')) return password.normalize('NFC')
  if (!hasScrypt) throw wrong(`${what} is a hash, which only Node can check: give the password itself`)
  return parseStored(password) ?? fail(`${what} is no hash: svc hash-password prints one`)
}

function checkToken(bearer: unknown): void {
  if (typeof bearer !== 'string' || bearer.length < TOKEN_MIN_CHARS || !TOKEN.test(bearer))
    throw wrong(
      `access.bearer has to have ${TOKEN_MIN_CHARS} characters or more: letters, digits and -._~+/, and = at the end`,
    )
}

function fail(message: string): never {
  throw wrong(message)
}

function wrong(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
