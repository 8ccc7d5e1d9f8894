// Sessions of visitors who signed in: the signed cookie, and the remembered sign-outs.

import { toBase64 } from '../../bytes/base64.ts'
import { hexOf } from '../../bytes/hex.ts'
import { constantTimeEqual } from '../constant-time-equal.ts'
import { SESSION_MS, SIGN_OUTS_MAX } from './limits.ts'
import type { Mac } from './mac.ts'

/** A Session is one sign-in of a wallet at one host. */
export interface Session {
  /** The random name of the session, in hexadecimal digits. */
  readonly id: string
  /** The address of the wallet in lower case. */
  readonly address: string
  /** In milliseconds since the epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The `__Host-` prefix keeps a site of a sibling hostname from setting this cookie (RFC 6265bis §4.1.3.2). */
const COOKIE = '__Host-svc-wallet'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const ID_BYTES = 16
/** The address, the time of issue in milliseconds, the session's id, and the MAC of all three and the host. */
const VALUE = /^([\da-f]{40})\.(\d{1,15})\.([\da-f]{32})\.[\w-]{43}$/

/** Sessions makes and reads the sessions of one handler. */
export class Sessions {
  readonly #mac: Mac
  readonly #wallets: ReadonlySet<string>
  /** The sessions of each wallet that ended early, by id, in order of their end. */
  readonly #signedOut = new Map<string, Map<string, Session>>()
  /** Sessions of the wallet issued at or before this time have ended. */
  readonly #endedUntil = new Map<string, number>()

  constructor(mac: Mac, wallets: ReadonlySet<string>) {
    this.#mac = mac
    this.#wallets = wallets
  }

  /** Begins a session of `address` at `host`, and resolves with the value of `Set-Cookie`. */
  async begin(host: string, address: string): Promise<string> {
    const id = hexOf(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    const value = await this.#value(host, address.slice(2).toLowerCase(), Date.now(), id)
    return `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${SESSION_MS / 1000}`
  }

  /** Resolves with the session of a request to `host`, or with undefined when it has none. */
  async of(request: Request, host: string): Promise<Session | undefined> {
    const value = cookieOf(request.headers.get('cookie') ?? '')
    const [, digits = '', time, id = ''] = VALUE.exec(value ?? '') ?? []
    if (value === undefined || time === undefined) return undefined
    const issuedAt = Number(time)
    if (!(await constantTimeEqual(value, await this.#value(host, digits, issuedAt, id)))) return undefined
    const session = { id, address: `0x${digits}`, issuedAt, expiresAt: issuedAt + SESSION_MS }
    return this.isOpen(session) ? session : undefined
  }

  /** Returns whether a session has neither expired nor ended early, and its wallet is on the list. */
  isOpen({ id, address, issuedAt, expiresAt }: Session): boolean {
    const isSignedOut = this.#signedOut.get(address)?.has(id) === true
    const isEnded = isSignedOut || issuedAt <= (this.#endedUntil.get(address) ?? Number.NEGATIVE_INFINITY)
    return Date.now() < expiresAt && !isEnded && this.#wallets.has(address)
  }

  /**
   * Ends a session.
   * @returns the value of `Set-Cookie` that deletes the cookie
   */
  end(session: Session): string {
    const { id, address } = session
    const ended = this.#signedOut.get(address) ?? new Map<string, Session>()
    if (ended.size >= SIGN_OUTS_MAX) this.#makeRoom(ended)
    this.#signedOut.set(address, ended.set(id, session))
    return `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`
  }

  /** @param ended the sign-outs of one wallet */
  #makeRoom(ended: Map<string, Session>): void {
    const now = Date.now()
    for (const [id, { expiresAt }] of ended) if (expiresAt <= now) ended.delete(id)
    const [first] = ended.values()
    if (!first || ended.size < SIGN_OUTS_MAX) return
    ended.delete(first.id)
    const { address, issuedAt } = first
    this.#endedUntil.set(address, Math.max(this.#endedUntil.get(address) ?? issuedAt, issuedAt))
  }

  async #value(host: string, digits: string, issuedAt: number, id: string): Promise<string> {
    const code = toBase64(await this.#mac('session', host, digits, String(issuedAt), id))
    return `${digits}.${issuedAt}.${id}.${code.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}`
  }
}

/** Returns a Cookie field without the session's cookie, which is for this handler alone; empty when nothing is left. */
export function withoutSession(cookies: string): string {
  return pairsOf(cookies)
    .filter((pair) => nameOf(pair) !== COOKIE)
    .join('; ')
}

function cookieOf(cookies: string): string | undefined {
  const pair = pairsOf(cookies).find((pair) => nameOf(pair) === COOKIE)
  return pair?.slice(COOKIE.length + 1)
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
