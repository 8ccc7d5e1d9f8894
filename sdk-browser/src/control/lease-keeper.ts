// Keeps one lease alive: registers it, renews it at half its life, gives it up. Never depends on a timer alone.

import { abortError, asSvcError, SvcError } from '../errors.ts'
import { RENEWAL_RETRY_MS } from '../limits.ts'
import type { RelayClient } from './client.ts'
import {
  type Grant,
  type LeaseRequest,
  type Proof,
  prove,
  type Registration,
  register,
  renew,
  unregister,
} from './registration.ts'

/** Codes of a renewal after which only a new registration helps. */
const GONE: ReadonlySet<string> = new Set(['lease_not_found', 'unauthorized', 'invalid_request'])

interface LeaseEvents {
  /** A lease was granted. */
  registered(): void
  /** A renewal succeeded. */
  renewed(): void
  /** A renewal failed; the lease may still live. */
  failed(error: SvcError): void
  /** The relay does not know the lease any more. */
  gone(error: SvcError): void
}

export class LeaseKeeper {
  #client: RelayClient
  #request: LeaseRequest
  #events: LeaseEvents
  #registration: Registration | undefined
  /** Signed, and not used up: the relay asked to wait before it looks at it. Another would cost anew. */
  #proof: Proof | undefined
  /** When the next renewal is due, by `Date.now()`. */
  #dueAt = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #renewing: Promise<void> | undefined
  /** The relay asked for no renewal before (`Retry-After`), by `Date.now()`. */
  #notBefore = 0
  /** Relay's clock minus ours, in milliseconds. */
  #clockOffset = 0

  constructor(client: RelayClient, request: LeaseRequest, events: LeaseEvents) {
    this.#client = client
    this.#request = request
    this.#events = events
  }

  get lease(): Registration | undefined {
    return this.#registration
  }

  get relayNow(): number {
    return Date.now() + this.#clockOffset
  }

  /**
   * The lease with credentials as fresh as can be: renewed when there is one, registered when there is none.
   * @param trusting take one that is not due for renewal as it is
   */
  async acquire(signal: AbortSignal, trusting = false): Promise<Registration> {
    const isFresh = trusting && Date.now() < this.#dueAt
    if (this.#registration && !isFresh && this.#mayRenew())
      await this.#renewOnce(signal).catch((error) => this.#forgetIfGone(error))
    return this.#registration ?? (await this.#register(signal))
  }

  /** Traffic passed: the moment to renew when that is due, even where timers sleep. */
  touch(): void {
    if (Date.now() >= this.#dueAt) this.renewNow()
  }

  /** Renews in the background; outcomes are events. */
  renewNow(): void {
    if (this.#renewing || !this.#registration || !this.#mayRenew()) return
    this.#renewing = this.#renewOnce()
      .then(
        () => this.#events.renewed(),
        (error) => this.#renewalFailed(error),
      )
      .finally(() => {
        this.#renewing = undefined
      })
  }

  /** Forgets the lease, so that the next one is registered anew. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#registration = undefined
  }

  /** Gives the lease up. That the relay may not hear it is harmless: the lease expires. */
  async release(keepalive: boolean): Promise<void> {
    const token = this.#registration?.accessToken
    this.drop()
    if (token !== undefined) await unregister(this.#client, token, keepalive).catch(() => {})
  }

  #mayRenew(): boolean {
    return Date.now() >= this.#notBefore
  }

  async #register(signal: AbortSignal): Promise<Registration> {
    const proof = await this.#prove(signal)
    const registration = await register(this.#client, this.#request, proof, signal).catch((error) => {
      if (error instanceof SvcError && error.code === 'rate_limited') this.#proof = proof
      throw error
    })
    this.#registration = registration
    if (signal.aborted) {
      // the answer won the race against the abort: what it granted is given back
      await this.release(false)
      throw abortError(signal)
    }
    this.#granted(registration)
    this.#events.registered()
    return registration
  }

  async #prove(signal: AbortSignal): Promise<Proof> {
    const kept = this.#proof
    this.#proof = undefined
    if (kept && Date.now() < kept.usableUntil) return kept
    return await prove(this.#client, this.#request, signal)
  }

  async #renewOnce(signal?: AbortSignal): Promise<void> {
    const renewed = this.#registration!
    const grant = await renew(this.#client, this.#request, renewed.accessToken, signal)
    if (this.#registration !== renewed) return // dropped, or registered anew, meanwhile
    this.#registration = { ...renewed, ...grant }
    this.#granted(grant)
  }

  /**
   * A lease lives exactly for the time asked for: a relay refuses a longer one and never shortens it. So neither a wrong
   * clock here nor the `Date` field, which CORS hides from a page, matters; and `expires_at` tells the relay's clock.
   */
  #granted(grant: Grant): void {
    const lifeMs = this.#request.ttlS * 1000
    this.#clockOffset = grant.expiresAt - lifeMs - Date.now()
    this.#renewIn(lifeMs / 2)
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#dueAt = Date.now() + ms
    this.#timer = setTimeout(() => this.renewNow(), ms)
  }

  #renewalFailed(cause: unknown): void {
    const error = asSvcError(cause, 'relay_unreachable', 'the renewal failed')
    if (this.#registration === undefined) return
    if (GONE.has(error.code)) {
      this.drop()
      this.#events.gone(error)
      return
    }
    const asked = error.retryAfterMs ?? 0
    this.#notBefore = Date.now() + asked
    this.#renewIn(Math.max(RENEWAL_RETRY_MS, asked))
    this.#events.failed(error)
  }

  #forgetIfGone(error: unknown): void {
    if (!(error instanceof SvcError && GONE.has(error.code))) throw error
    this.drop()
  }
}
