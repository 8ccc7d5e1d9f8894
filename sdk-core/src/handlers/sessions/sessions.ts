// Sessions of visitors who signed in: the signed cookie, and the remembered sign-outs.

import { toBase64 } from '../../bytes/base64.ts'
import { hexOf } from '../../bytes/hex.ts'
import { constantTimeEqual } from '../constant-time-equal.ts'
import { SESSION_MS, SIGN_OUTS_MAX } from './limits.ts'
import type { Mac } from './mac.ts'

/** A Session is one sign-in at one host. */
export interface Session {
  /** The random name of the session, in hexadecimal digits. */
  readonly id: string
  /** Who signed in, such as the address of a wallet: letters, digits, `-` and `_`. */
  readonly subject: string
  /** In milliseconds since the epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** SessionRules are what differs between the ways to sign in. */
export interface SessionRules {
  /**
   * The name of the cookie. Its prefix `__Host-` keeps a site of a sibling hostname from setting it (RFC 6265bis §4.1.3.2).
   */
  cookie: `__Host-${string}`
  /** Returns when the last session of a subject ends, in milliseconds since the epoch; 0 when the subject may not come in. */
  endOf(subject: string): number
}

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const ID_BYTES = 16
/** The subject, the time of issue in milliseconds, the session's id, and the MAC of all three and the host. */
const VALUE = /^([\w-]+)\.(\d{1,15})\.([\da-f]{32})\.[\w-]{43}$/

/** Sessions makes and reads the sessions of one handler. */
export class Sessions {
  readonly #mac: Mac
  readonly #rules: SessionRules
  /** The sessions of each subject that ended early, by id, in order of their end. */
  readonly #signedOut = new Map<string, Map<string, Session>>()
  /** Sessions of the subject issued at or before this time have ended. */
  readonly #endedUntil = new Map<string, number>()

  constructor(mac: Mac, rules: SessionRules) {
    this.#mac = mac
    this.#rules = rules
  }

  /** Begins a session of `subject` at `host`, and resolves with it and the value of `Set-Cookie`. */
  async begin(host: string, subject: string): Promise<{ session: Session; cookie: string }> {
    const id = hexOf(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    const session = this.#session(subject, Date.now(), id)
    const value = await this.#value(host, session)
    const maxAge = Math.ceil((session.expiresAt - session.issuedAt) / 1000)
    return { session, cookie: `${this.#rules.cookie}=${value}; ${ATTRIBUTES}; Max-Age=${maxAge}` }
  }

  /** Resolves with the session of a request to `host`, or with undefined when it has none. */
  async of(request: Request, host: string): Promise<Session | undefined> {
    const value = this.#cookieOf(request.headers.get('cookie') ?? '')
    const [, subject = '', time, id = ''] = VALUE.exec(value ?? '') ?? []
    if (value === undefined || time === undefined) return undefined
    const session = this.#session(subject, Number(time), id)
    if (!(await constantTimeEqual(value, await this.#value(host, session)))) return undefined
    return this.isOpen(session) ? session : undefined
  }

  /** Returns whether a session has neither expired nor ended early, and its subject may still come in. */
  isOpen({ id, subject, issuedAt, expiresAt }: Session): boolean {
    const isSignedOut = this.#signedOut.get(subject)?.has(id) === true
    const isEnded = isSignedOut || issuedAt <= (this.#endedUntil.get(subject) ?? Number.NEGATIVE_INFINITY)
    return Date.now() < Math.min(expiresAt, this.#rules.endOf(subject)) && !isEnded
  }

  /**
   * Ends a session.
   * @returns the value of `Set-Cookie` that deletes the cookie
   */
  end(session: Session): string {
    const { id, subject } = session
    const ended = this.#signedOut.get(subject) ?? new Map<string, Session>()
    if (ended.size >= SIGN_OUTS_MAX) this.#makeRoom(ended)
    this.#signedOut.set(subject, ended.set(id, session))
    return `${this.#rules.cookie}=; ${ATTRIBUTES}; Max-Age=0`
  }

  /** @param ended the sign-outs of one subject */
  #makeRoom(ended: Map<string, Session>): void {
    const now = Date.now()
    for (const [id, { expiresAt }] of ended) if (expiresAt <= now) ended.delete(id)
    const [first] = ended.values()
    if (!first || ended.size < SIGN_OUTS_MAX) return
    ended.delete(first.id)
    const { subject, issuedAt } = first
    this.#endedUntil.set(subject, Math.max(this.#endedUntil.get(subject) ?? issuedAt, issuedAt))
  }

  /** Returns a Cookie field without the session's cookie, which is for the sign-in alone; empty when nothing is left. */
  without(cookies: string): string {
    return pairsOf(cookies)
      .filter((pair) => nameOf(pair) !== this.#rules.cookie)
      .join('; ')
  }

  #session(subject: string, issuedAt: number, id: string): Session {
    return { id, subject, issuedAt, expiresAt: Math.min(issuedAt + SESSION_MS, this.#rules.endOf(subject)) }
  }

  #cookieOf(cookies: string): string | undefined {
    const { cookie } = this.#rules
    const pair = pairsOf(cookies).find((pair) => nameOf(pair) === cookie)
    return pair?.slice(cookie.length + 1)
  }

  async #value(host: string, { subject, issuedAt, id }: Session): Promise<string> {
    const code = toBase64(await this.#mac('session', host, subject, String(issuedAt), id))
    return `${subject}.${issuedAt}.${id}.${code.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}`
  }
}

function pairsOf(cookies: string): string[] {
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
}

function nameOf(pair: string): string {
  const end = pair.indexOf('=')
  return end < 0 ? '' : pair.slice(0, end)
}
