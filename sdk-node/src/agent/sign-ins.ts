// Authenticates callers: by the bearer token of the endpoint file, a page's sign-in by ticket, or a wallet's sign-in.

import { timingSafeEqual } from 'node:crypto'
import type { AuthStatus, Role, SignIn } from './api-messages.ts'
import { AgentError } from './errors.ts'
import { digest, newSecret } from './secrets.ts'

/** The life of a sign-in, in milliseconds. */
const SIGN_IN_TTL_MS = 24 * 60 * 60_000
/** The most sign-ins of each role: one more ends the oldest of that role. */
export const SIGN_INS_MAX = 64
/** The life of a page's ticket, in milliseconds. */
const TICKET_TTL_MS = 60_000
/** The most tickets: one more invalidates the oldest. */
export const TICKETS_MAX = 16

/** An authenticated caller. */
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
  /** By the digest of the token, so that the time of a look-up reveals nothing about it. Oldest first. */
  readonly #sessions = new Map<string, Session>()
  /** The expiry of each ticket by its digest, oldest first. */
  readonly #tickets = new Map<string, number>()

  /**
   * @param bearer the token of the endpoint file
   * @param now milliseconds since the epoch
   */
  constructor(bearer: string, now: () => number = Date.now) {
    this.#bearer = digest(bearer)
    this.#now = now
  }

  /** @returns undefined for an invalid or expired token */
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

  /** Ends a sign-in. The bearer token of the endpoint file remains valid. */
  signOut(token: string): void {
    this.#sessions.delete(digest(token).toString('base64url'))
  }

  /** Ends the sign-ins of wallets that are no longer allowed. */
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

  /** Redeems a ticket, once. @throws AgentError `unauthorized` */
  redeem(ticket: string): SignIn {
    const key = digest(ticket).toString('base64url')
    const expiresAt = this.#tickets.get(key) ?? 0
    this.#tickets.delete(key)
    if (expiresAt <= this.#now())
      throw new AgentError(
        'unauthorized',
        'the ticket was used or has expired: svc agent open makes another one',
      )
    return this.signIn('owner')
  }
}
