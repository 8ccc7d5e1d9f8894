// Who asks: the bearer token of the endpoint file, a sign-in of the page by a ticket, or a sign-in of a wallet.

import { timingSafeEqual } from 'node:crypto'
import type { AuthStatus, Role, SignIn } from './api-messages.ts'
import { AgentError } from './errors.ts'
import { SIGN_IN_TTL_MS, SIGN_INS_MAX, TICKET_TTL_MS, TICKETS_MAX } from './limits.ts'
import { digest, newSecret } from './secrets.ts'

/** Who asks, where the token is good. */
export type Caller = AuthStatus & { authenticated: true; role: Role }

interface Session {
  role: Role
  address: string | undefined
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export class SignIns {
  readonly #bearer: Buffer
  readonly #now: () => number
  /** By the digest of the token, so that the time of a look-up says nothing about a token. The oldest is the first. */
  readonly #sessions = new Map<string, Session>()
  /** The ends of the tickets by the digests of them, the oldest first. */
  readonly #tickets = new Map<string, number>()

  /**
   * @param bearer the token of the endpoint file
   * @param now milliseconds since the epoch
   */
  constructor(bearer: string, now: () => number = Date.now) {
    this.#bearer = digest(bearer)
    this.#now = now
  }

  /** @returns undefined for a token that is not good, or not any more */
  callerOf(token: string): Caller | undefined {
    const hash = digest(token)
    if (timingSafeEqual(hash, this.#bearer)) return { authenticated: true, role: 'owner' }
    const key = hash.toString('base64url')
    const session = this.#sessions.get(key)
    if (session === undefined) return undefined
    const { role, address, expiresAt } = session
    if (expiresAt > this.#now())
      return { authenticated: true, role, address, expires_at: new Date(expiresAt).toISOString() }
    this.#sessions.delete(key)
    return undefined
  }

  /** @param address the wallet of a reader */
  signIn(role: Role, address?: string): SignIn {
    const token = newSecret()
    const expiresAt = this.#now() + SIGN_IN_TTL_MS
    const others = [...this.#sessions].filter(([, session]) => session.role === role)
    for (const [key] of others.slice(0, Math.max(0, others.length + 1 - SIGN_INS_MAX)))
      this.#sessions.delete(key)
    this.#sessions.set(digest(token).toString('base64url'), { role, address, expiresAt })
    return { access_token: token, role, expires_at: new Date(expiresAt).toISOString() }
  }

  /** Ends a sign-in. The bearer token of the endpoint file stays. */
  signOut(token: string): void {
    this.#sessions.delete(digest(token).toString('base64url'))
  }

  /** Ends the sign-ins of all wallets that are not allowed any more. */
  keepWallets(isAllowed: (address: string) => boolean): void {
    for (const [key, { address }] of this.#sessions)
      if (address !== undefined && !isAllowed(address)) this.#sessions.delete(key)
  }

  newTicket(): { ticket: string; expiresAt: number } {
    const ticket = newSecret()
    const expiresAt = this.#now() + TICKET_TTL_MS
    if (this.#tickets.size >= TICKETS_MAX) this.#tickets.delete(this.#tickets.keys().next().value!)
    this.#tickets.set(digest(ticket).toString('base64url'), expiresAt)
    return { ticket, expiresAt }
  }

  /** Uses a ticket up. @throws AgentError `unauthorized` */
  redeem(ticket: string): SignIn {
    const key = digest(ticket).toString('base64url')
    const expiresAt = this.#tickets.get(key) ?? 0
    this.#tickets.delete(key)
    if (expiresAt <= this.#now())
      throw new AgentError('unauthorized', 'the ticket was used or is over: svc agent open makes another one')
    return this.signIn('owner')
  }
}
