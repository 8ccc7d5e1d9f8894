// Keeps one lease alive: registers it, renews it at half its life, and unregisters it. It never depends on a timer alone.

import { backoffMs, jittered } from '@svc/protocol/timers'
import { abortError, asSvcError, SvcError } from '../errors.ts'
import { fetchEndpoint } from './endpoint.ts'
import type { Grant, LeaseEvents, LeaseRequest, Registration } from './lease.ts'
import { CLOCK_LEAP_MS, RENEWAL_RETRY_FIRST_MS, RENEWAL_RETRY_MS, STATEMENT_DELAY_MS } from './limits.ts'
import { loadLazy } from './load-lazy.ts'
import { withAcceptedMetadata } from './metadata.ts'
import { type Proof, prove, register, renew, unregister } from './registration.ts'
import type { RelayClient } from './relay-client.ts'

/** The codes of a failed renewal after which only a new registration helps. */
const GONE: ReadonlySet<string> = new Set(['lease_not_found', 'unauthorized', 'invalid_request'])

/** LeaseKeeper has one lease at one relay, from its registration to its end. */
export class LeaseKeeper {
  #client: RelayClient
  #request: LeaseRequest
  #events: LeaseEvents
  #registration: Registration | undefined
  /**
   * A signed challenge, still unused because the relay asked the SDK to wait. Another one would need another signature.
   */
  #proof: Proof | undefined
  /** The next renewal is due at this time of `performance.now()`. */
  #dueAt = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #renewing: Promise<void> | undefined
  /** The number of renewals in a row without an answer. */
  #unanswered = 0
  /** The time of `performance.now()` before which the relay wants no renewal (`Retry-After`). */
  #notBefore = 0
  /** `Date.now()` minus `performance.now()` at the last grant, in milliseconds. */
  #wallAheadMs = 0

  constructor(client: RelayClient, request: LeaseRequest, events: LeaseEvents) {
    this.#client = client
    this.#request = request
    this.#events = events
  }

  get lease(): Registration | undefined {
    return this.#registration
  }

  /**
   * Resolves with the lease and fresh credentials: renewed when there is a lease, registered when there is none.
   * @param trusting returns a lease that is not yet due for renewal without asking the relay
   * @throws SvcError
   */
  async acquire(signal: AbortSignal, trusting = false): Promise<Registration> {
    const isFresh = trusting && !this.#isDue
    if (this.#registration && !isFresh && this.#mayRenew())
      await this.#renewOnce(signal).catch((error) => this.#forgetIfGone(error))
    return this.#registration ?? (await this.#register(signal))
  }

  /** Renews when that is due. Called on traffic, which comes even when timers do not fire. */
  touch(): void {
    if (this.#isDue) this.renewNow()
  }

  /** Renews in the background. The outcome is reported as an event. */
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

  /**
   * Asks the relay for the lease's routing and endpoint, without renewing it.
   * @param failed requests another endpoint than the one of this lease
   * @returns the lease with what the relay answered; undefined when there is no lease any more
   * @throws SvcError
   */
  async look(signal: AbortSignal, failed?: Registration): Promise<Registration | undefined> {
    const asked = this.#registration
    const isAnother = failed?.accessToken !== asked?.accessToken && failed?.carrierUrl !== asked?.carrierUrl
    if (!asked || (failed && isAnother)) return asked
    const { accessToken } = asked
    const { checkGateway } = this.#request
    const endpoint = await fetchEndpoint(this.#client, { accessToken, checkGateway }, signal, failed)
    // The lease may have been dropped, renewed, or registered again meanwhile.
    if (this.#registration === asked) this.#registration = { ...asked, ...endpoint }
    return this.#registration
  }

  /** Resolves with whether the relay refuses the token of the lease. If it granted it a moment ago, the lease was replaced. */
  isGone(signal: AbortSignal): Promise<boolean> {
    return this.look(signal).then(
      () => false,
      ({ code }) => GONE.has(code),
    )
  }

  /** Forgets the lease, so that acquire() registers again. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#registration = undefined
  }

  /** Unregisters the lease. If the request fails, the lease expires. */
  async release(keepalive: boolean): Promise<void> {
    const token = this.#registration?.accessToken
    this.drop()
    if (token !== undefined) await unregister(this.#client, token, keepalive).catch(() => {})
  }

  #mayRenew(): boolean {
    return performance.now() >= this.#notBefore
  }

  /** Also true when the machine slept, since `performance.now()` may then stand still, or when its clock was set. */
  get #isDue(): boolean {
    const leapMs = Math.abs(wallAheadMs() - this.#wallAheadMs)
    return performance.now() >= this.#dueAt || (this.#registration !== undefined && leapMs > CLOCK_LEAP_MS)
  }

  async #register(signal: AbortSignal): Promise<Registration> {
    const proof = await this.#prove(signal)
    const registration = await register(this.#client, this.#request, proof, signal).catch((error) => {
      if (error instanceof SvcError && error.code === 'rate_limited') this.#proof = proof
      throw error
    })
    this.#registration = registration
    if (signal.aborted) {
      // The answer came before the abort took effect: give back the lease that it granted.
      await this.release(false)
      throw abortError(signal)
    }
    this.#granted(registration)
    // A renewal sends the statement, so that it does not delay the registration.
    if (this.#isStated) this.#renewIn(STATEMENT_DELAY_MS)
    this.#events.registered()
    return registration
  }

  async #prove(signal: AbortSignal): Promise<Proof> {
    const kept = this.#proof
    this.#proof = undefined
    if (kept && performance.now() < kept.usableUntil) return kept
    return await this.#withMetadata((request) => prove(this.#client, request, signal))
  }

  async #renewOnce(signal?: AbortSignal): Promise<void> {
    const renewed = this.#registration!
    // If the code cannot be loaded, as in a service worker, other relays do not learn that the site is here.
    const late = this.#isStated && (await loadLazy().catch(() => {}))
    const statement = late
      ? late.prepareRenewal(this.#client, this.#request, renewed, this.#events)
      : undefined
    const grant = await this.#withMetadata((request) =>
      renew(this.#client, { ...request, statement }, renewed.accessToken, signal),
    )
    if (this.#registration !== renewed) return // The lease was dropped, or registered again, meanwhile.
    this.#registration = { ...renewed, ...grant }
    this.#granted(grant)
  }

  /** True when the site tells other relays that it is here and the relay passes that on. */
  get #isStated(): boolean | undefined {
    return this.#request.isStated && this.#registration?.extensions.has('site_statement')
  }

  /** Remembers which metadata the relay accepted, and does not send the rest again. */
  async #withMetadata<T>(attempt: (request: LeaseRequest) => Promise<T>): Promise<T> {
    const { result, metadata, refusal } = await withAcceptedMetadata(this.#request.metadata, (metadata) =>
      attempt({ ...this.#request, metadata }),
    )
    this.#request = { ...this.#request, metadata }
    if (refusal) this.#events.reduced(refusal)
    return result
  }

  /**
   * Schedules the renewal. A lease lives exactly as long as requested: a relay refuses a longer time and never
   * shortens it. So a wrong clock here does not matter, and `expires_at` reveals the relay's.
   */
  #granted(grant: Grant): void {
    const lifeMs = this.#request.ttlS * 1000
    this.#client.clock.granted(grant.expiresAt - lifeMs)
    this.#wallAheadMs = wallAheadMs()
    this.#unanswered = 0
    this.#request.domains?.granted(this.#client, this.#registration!)
    this.#renewIn(lifeMs / 2)
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#dueAt = performance.now() + ms
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
    this.#notBefore = performance.now() + asked
    this.#renewIn(Math.max(this.#retryMs(error), asked))
    this.#events.failed(error)
  }

  #retryMs({ code }: SvcError): number {
    if (code !== 'relay_unreachable') return RENEWAL_RETRY_MS
    return jittered(backoffMs(this.#unanswered++, RENEWAL_RETRY_FIRST_MS, RENEWAL_RETRY_MS))
  }

  #forgetIfGone(error: unknown): void {
    if (!(error instanceof SvcError && GONE.has(error.code))) throw error
    this.drop()
  }
}

function wallAheadMs(): number {
  return Date.now() - performance.now()
}
