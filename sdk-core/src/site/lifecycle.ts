// The states of a published site and all transitions between them. The connection implements what each state does at the relay.

import { abortError, asSvcError, type SvcError } from '../errors.ts'
import type { Addresses } from './addresses.ts'
import { Backoff } from './backoff.ts'
import type { SiteEvents } from './events.ts'
import { isFatal, isLeaseLost, isWorthWaiting, waitingReason } from './failure-policy.ts'
import { SiteStatus } from './status.ts'
import type { Waiting } from './waiting-reason.ts'

/** A carrier that lived this long was healthy: the next failure starts from `BACKOFF_FIRST_MS`. */
export const STABLE_AFTER_MS = 10_000

/**
 * - `starting`: the first attempt to connect is in progress
 * - `connecting`: another attempt is in progress
 * - `pausing`: an attempt failed, or the connection was lost; the next attempt follows after a pause
 * - `connected`: the carrier brings visitors, unless the relay keeps them out
 * - `suspended`: the page is away and may come back
 * - `closed`: final
 *
 *     starting ─┬→ connected ─→ pausing ─→ connecting ─┬→ connected
 *               └→ pausing                             └→ pausing
 *
 * Each may become `suspended`, which only `connecting` follows, and `closed`.
 */
type State = 'starting' | 'connecting' | 'pausing' | 'connected' | 'suspended' | 'closed'

/** A Connection is a site's presence at its relay, as the lifecycle uses it. */
export interface Connection {
  /** The URLs and addresses at which visitors find the site. */
  readonly addresses: Addresses
  /**
   * Makes one attempt to connect.
   * @param isTrusting whether to use the lease without a check
   * @throws SvcError
   */
  open(isTrusting: boolean, signal: AbortSignal): Promise<void>
  /** Called when visitors can connect. */
  online(): void
  /** Forgets the lease, which is lost. */
  dropLease(): void
  /** Lets connected visitors finish, within a time limit. Never rejects. */
  drain(): Promise<void>
  /** Stops everything except the lease. */
  stop(): void
  /** Unregisters the lease. Never rejects. */
  release(keepalive: boolean): Promise<void>
}

/** ConnectionEvents are what a connection reports to the lifecycle. */
export interface ConnectionEvents {
  /** True while visitors can connect. */
  readonly isOnline: boolean
  /** Called when an attempt succeeded. */
  connected(): void
  /** Called with what keeps visitors out, or with undefined when nothing does. */
  waits(waiting: Waiting | undefined): void
  /** Called when a visitor came, which shows that the relay can be reached. */
  reached(): void
  /** Called when the connection ended, but not after `stop`. */
  lost(reason: SvcError): void
}

export class Lifecycle<C extends Connection> implements ConnectionEvents {
  readonly connection: C
  readonly status: SiteStatus = new SiteStatus(() => this.#statusChanged())
  #events: SiteEvents
  #state: State = 'starting'
  #backoff = new Backoff()
  #timesConnected = 0
  #connectedAt = 0
  /** Aborted when the site closes or is suspended. All work of the site ends with it. */
  #run = new AbortController()
  #gone = new AbortController()
  /** Aborted when the site has ended. */
  readonly gone: AbortSignal = this.#gone.signal
  /** Resolves when the site is online. Rejects when it closes before that. */
  #online = Promise.withResolvers<void>()
  #closing: Promise<void> | undefined

  constructor(events: SiteEvents, connectionOf: (events: ConnectionEvents) => C) {
    this.#events = events
    this.connection = connectionOf(this)
  }

  get isOnline(): boolean {
    return this.status.state === 'online'
  }

  /** The number of reconnections. */
  get reconnects(): number {
    return Math.max(0, this.#timesConnected - 1)
  }

  /**
   * Resolves when the site is online for the first time. Rejects, with the site closed, when that fails. Once the relay
   * has made the site wait, the site also waits for a relay that is away.
   */
  async start(): Promise<void> {
    void this.#attempt(false)
    try {
      await this.#online.promise
    } catch (error) {
      await this.#closing
      throw error
    }
  }

  /** Starts the next attempt at once, unless the relay asked the SDK to wait. */
  wake(): void {
    this.#backoff.wake()
  }

  suspend(): void {
    this.#enter('suspended')
    this.#setOffline()
    // A site that is closing stops waiting for its visitors.
    this.#stop()
    void this.connection.release(true)
  }

  resume(): void {
    if (this.#state !== 'suspended') return
    this.#run = new AbortController()
    void this.#connect(false)
  }

  /** Never rejects. */
  close(failure?: SvcError): Promise<void> {
    if (this.#enter('closed')) this.#closing = this.#close(failure)
    return this.#closing!
  }

  connected(): void {
    if (!this.#enter('connected')) return
    this.#connectedAt = performance.now()
    this.#timesConnected += 1
  }

  waits(waiting: Waiting | undefined): void {
    if (waiting) this.status.wait(waiting)
    else this.status.set('online')
  }

  reached(): void {
    this.#backoff.reset()
  }

  lost(reason: SvcError): void {
    if (this.#state !== 'connected') return
    this.#setOffline()
    if (this.#run.signal.aborted) return
    if (performance.now() - this.#connectedAt > STABLE_AFTER_MS) this.#backoff.reset()
    this.#failed(reason)
  }

  /** Makes a transition; all go through here. @returns false when the site is closed and stays closed */
  #enter(next: State): boolean {
    if (this.#state === 'closed') return false
    this.#state = next
    return true
  }

  async #connect(isTrusting: boolean): Promise<void> {
    if (this.#enter('connecting')) await this.#attempt(isTrusting)
  }

  /** Makes an attempt. The connection itself reports success. */
  async #attempt(isTrusting: boolean): Promise<void> {
    const { signal } = this.#run
    try {
      await this.connection.open(isTrusting, signal)
    } catch (error) {
      if (!signal.aborted)
        this.#failed(asSvcError(error, 'relay_unreachable', 'the site could not be connected'))
    }
  }

  /** Decides what follows a failed attempt or a lost connection. */
  #failed(reason: SvcError): void {
    if (this.#state === 'starting' && !isWorthWaiting(reason)) {
      void this.close(reason) // The caller of start() gets the reason.
      return
    }
    if (isLeaseLost(reason)) this.connection.dropLease()
    if (isFatal(reason, this.#timesConnected > 0)) {
      void this.close(reason)
      this.#events.error(reason)
    } else void this.#pause(reason, this.#state === 'connected')
  }

  /** @param isLoss whether the site was connected until now */
  async #pause(reason: SvcError, isLoss: boolean): Promise<void> {
    const { signal } = this.#run
    this.#enter('pausing')
    const askedMs = reason.retryAfterMs ?? 0
    const ms = Math.max(isLoss ? this.#backoff.afterLoss() : this.#backoff.next(), askedMs)
    const waiting = waitingReason(reason)
    if (waiting) this.status.wait({ reason: waiting, until: Date.now() + ms })
    else this.#setOffline()
    this.#events.error(reason)
    if (signal.aborted) return
    this.#events.debug({ type: 'retry', inMs: ms })
    await this.#backoff.pause(ms, signal, askedMs > 0)
    if (!signal.aborted) await this.#connect(isLoss && reason.code === 'relay_unreachable')
  }

  /** Lets connected visitors finish first, because the relay ends their connections with the lease. */
  async #close(failure: SvcError | undefined): Promise<void> {
    this.status.set('closed')
    this.#run.abort()
    this.#online.reject(failure ?? abortError(this.#run.signal))
    await this.connection.drain()
    this.#stop()
    await this.connection.release(false)
    this.#gone.abort()
  }

  #stop(): void {
    this.#run.abort()
    this.connection.stop()
  }

  #setOffline(): void {
    this.status.set(this.#timesConnected === 0 ? 'connecting' : 'reconnecting')
  }

  #statusChanged(): void {
    if (this.isOnline) {
      this.#online.resolve()
      this.connection.online()
    }
    this.#events.urls(this.isOnline ? [this.connection.addresses.url] : [])
    this.#events.state(this.status)
  }
}
