// The options of `access`, checked when the site is made.

import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'
import { PASSWORD_MAX_CHARS, TOKEN_MIN_CHARS } from './limits.ts'
import { type Network, parseNetwork } from './network.ts'
import { type CheckedOidc, checkOidc, type OidcOptions } from './oidc/options.ts'
import { parseStored, type StoredPassword } from './password-hash.ts'
import { parseEnd, parseRate, type Rate } from './times.ts'

/**
 * AccessOptions say who may come to a site. With several of `password`, `users`, `bearer`, `oidc` and `knock`, each lets in. A
 * password is plain text or, in Node, `scrypt:…` as `svc hash-password` prints it.
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
  /**
   * The issuer of OpenID Connect at which visitors sign in, and who of them may come in.
   * @default none
   */
  oidc?: OidcOptions | undefined
  /**
   * Asks the owner about each visitor who does not sign in: the site dispatches `knock`, and lists who waits as `knocks`.
   * @default false
   */
  knock?: boolean | undefined
  /**
   * The only networks from which visitors may come: addresses or CIDR, such as `192.0.2.0/24`. A visitor whose address the relay
   * does not tell is refused.
   * @default every one
   */
  allowIp?: readonly string[] | undefined
  /**
   * Networks from which nobody may come. A visitor whose address the relay does not tell is refused.
   * @default none
   */
  denyIp?: readonly string[] | undefined
  /**
   * When the site closes: a time from now such as `90s`, `30m`, `2h` or `7d`, a Date, or the text of one (ISO 8601).
   * @default never
   */
  expires?: string | Date | undefined
  /**
   * Lets in the first visitor alone, by the session.
   * @default false
   */
  once?: boolean | undefined
  /**
   * The most visitors at once: sessions that sent a request within five minutes, or have a WebSocket or another response open.
   * @default no limit
   */
  maxVisitors?: number | undefined
  /**
   * The most requests of each visitor, such as `10/s`, `100/m` or `1000/h`. More get 429.
   * @default no limit
   */
  rate?: string | undefined
}

/** A Password is plain, or stored as a hash. */
export type Password = string | StoredPassword

/** The checked options. */
export interface CheckedAccess {
  password: Password | undefined
  users: ReadonlyMap<string, Password>
  bearer: string | undefined
  oidc: CheckedOidc | undefined
  knock: boolean
  allowIp: readonly Network[] | undefined
  denyIp: readonly Network[] | undefined
  /** In milliseconds since the epoch; infinity for never. */
  expiresAt: number
  once: boolean
  maxVisitors: number | undefined
  rate: Rate | undefined
}

const NAMES: Readonly<Record<keyof AccessOptions, true>> = {
  password: true,
  users: true,
  bearer: true,
  oidc: true,
  knock: true,
  allowIp: true,
  denyIp: true,
  expires: true,
  once: true,
  maxVisitors: true,
  rate: true,
}

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
  const { password, users = {}, bearer, oidc, knock = false, allowIp, denyIp } = options
  const { expires, once = false, maxVisitors, rate } = options
  if (Object.values(options).every((value) => value === undefined || value === false))
    throw wrong('access has to say who may come in, such as with password, users, bearer, oidc or knock')
  if (!isRecord(users)) throw wrong('access.users must be an object: the password of each name')
  if (bearer !== undefined) checkToken(bearer)
  if (typeof knock !== 'boolean') throw wrong('access.knock must be true or false')
  if (typeof once !== 'boolean') throw wrong('access.once must be true or false')
  if (maxVisitors !== undefined && !(Number.isSafeInteger(maxVisitors) && maxVisitors > 0))
    throw wrong('access.maxVisitors must be a whole number above 0')
  return {
    password: password === undefined ? undefined : checkPassword(password, 'access.password', hasScrypt),
    users: new Map(Object.entries(users).map((user) => checkUser(...user, hasScrypt))),
    bearer,
    oidc: oidc === undefined ? undefined : checkOidc(oidc),
    knock,
    allowIp: networksOf('access.allowIp', allowIp),
    denyIp: networksOf('access.denyIp', denyIp),
    expiresAt: expires === undefined ? Number.POSITIVE_INFINITY : checkExpires(expires),
    once,
    maxVisitors,
    rate:
      rate === undefined
        ? undefined
        : (parseRate(rate) ?? fail('access.rate must be like 10/s, 100/m or 1000/h')),
  }
}

function networksOf(name: string, list: unknown): Network[] | undefined {
  if (list === undefined) return undefined
  if (!Array.isArray(list) || list.length === 0)
    throw wrong(`${name} must be a list of addresses or networks`)
  return list.map(
    (text) => parseNetwork(String(text)) ?? fail(`${name}: ${text} is no address and no network`),
  )
}

function checkExpires(expires: unknown): number {
  const at = parseEnd(expires)
  if (at === undefined) throw wrong('access.expires must be a time such as 2h, or a date')
  if (at <= Date.now()) throw wrong(`access.expires has passed: ${new Date(at).toISOString()}`)
  return at
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
