// Tickets tell browsers that knock apart. Each is random, and in a cookie of its browser; the site keeps only a hash of those it answered.

import { base64url } from '../../bytes/base64url.ts'
import { constantTimeEqual } from '../../handlers/constant-time-equal.ts'
import type { Mac } from '../../handlers/sessions/mac.ts'
import { TICKET_MAX_AGE_S } from './limits.ts'

/** The prefix keeps a site of a sibling hostname from setting it (RFC 6265bis §4.1.3.2). */
const COOKIE = '__Host-svc-knock'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const ID_BYTES = 16
/** The time of issue in milliseconds, the random part, and the MAC of both and the host. */
const VALUE = /^(\d{1,15})\.([\w-]{22})\.[\w-]{43}$/

export interface Ticket {
  /** The hash under which the site remembers it. */
  readonly key: string
  /** In milliseconds since the epoch. */
  readonly issuedAt: number
}

export class Tickets {
  readonly #mac: Mac

  constructor(mac: Mac) {
    this.#mac = mac
  }

  /** Resolves with a new ticket, and the value of `Set-Cookie`. */
  async issue(host: string): Promise<{ ticket: Ticket; cookie: string }> {
    const id = base64url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    const issuedAt = Date.now()
    const value = await this.#value(host, String(issuedAt), id)
    const cookie = `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${TICKET_MAX_AGE_S}`
    return { ticket: { key: await this.#key(id), issuedAt }, cookie }
  }

  /** Resolves with the ticket of a request to `host`, or with undefined when it has none that this site issued there. */
  async of(request: Request, host: string): Promise<Ticket | undefined> {
    const pair = pairsOf(request.headers.get('cookie') ?? '').find(isTicket)
    const value = pair?.slice(COOKIE.length + 1) ?? ''
    const [, time = '', id = ''] = VALUE.exec(value) ?? []
    if (id === '' || !(await constantTimeEqual(value, await this.#value(host, time, id)))) return undefined
    return { key: await this.#key(id), issuedAt: Number(time) }
  }

  async #value(host: string, time: string, id: string): Promise<string> {
    return `${time}.${id}.${base64url(await this.#mac('knock-ticket', host, time, id))}`
  }

  async #key(id: string): Promise<string> {
    return base64url(await this.#mac('knock-key', id))
  }
}

/** Returns a Cookie field without tickets; empty when nothing is left. */
export function withoutTicket(cookies: string): string {
  return pairsOf(cookies)
    .filter((pair) => !isTicket(pair))
    .join('; ')
}

function isTicket(pair: string): boolean {
  return pair.startsWith(`${COOKIE}=`)
}

function pairsOf(cookies: string): string[] {
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
}
