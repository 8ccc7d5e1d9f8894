// A carrier with one TLS connection for each session, which becomes the visitor's.

import type { TLSSocket } from 'node:tls'
import { KEEPALIVE_INTERVAL_MS, MARKER_WRITE_DEADLINE_MS, RAW_UPGRADE } from '@svc/protocol'
import { pause } from '@svc/protocol/timers'
import {
  type Activation,
  asSvcError,
  type CarrierEvents,
  type CarrierStats,
  MAINTENANCE_INTERVAL_MS,
  type ReadyStream,
  ReadyStreams,
  readyStream,
  type SiteCarrier,
  SvcError,
  type Traffic,
  untilAccepted,
} from '@svc/sdk-core'
import { SocketStream } from '../net/socket-stream.ts'
import type { Dialed } from './dial.ts'
import type { Dialer } from './dialer.ts'
import type { LeaseContest } from './lease-contest.ts'
import { LEASE_UNKNOWN } from './refusals.ts'

/** Milliseconds of silence after which an idle native session is dead: a keepalive was due and should have arrived. */
export const SESSION_SILENCE_MAX_MS: number = KEEPALIVE_INTERVAL_MS + MARKER_WRITE_DEADLINE_MS

/** Errors that concern all sessions, not only this one. */
const FOR_ALL: ReadonlySet<string> = new Set(['ip_banned', 'lease_rejected', 'http11_only'])

export function openSessionCarrier(
  dialer: Dialer,
  contest: LeaseContest,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<SiteCarrier> {
  return untilAccepted(new SessionCarrier(dialer, contest, traffic, events), signal)
}

class SessionCarrier implements SiteCarrier {
  readonly online: Promise<void>
  readonly #dialer: Dialer
  readonly #contest: LeaseContest
  readonly #traffic: Traffic
  readonly #events: CarrierEvents
  readonly #streams: ReadyStreams
  readonly #sockets = new Set<TLSSocket>()
  readonly #firstReady = Promise.withResolvers<void>()
  /** Aborted when the carrier closes. */
  readonly #life = new AbortController()
  #isOnline = false
  /** The last value passed to `admits`. */
  #isAdmitting = true
  #dialing = 0
  /** The time of `performance.now()` before which the relay wants no session. */
  #notBefore = 0
  #rttMs: number | undefined
  #tidiedAt = 0

  constructor(dialer: Dialer, contest: LeaseContest, traffic: Traffic, events: CarrierEvents) {
    this.#dialer = dialer
    this.#contest = contest
    this.#traffic = traffic
    this.#events = events
    this.online = this.#firstReady.promise
    this.#streams = new ReadyStreams({
      open: () => this.#open(),
      hasRoomFor: (visitors) => events.hasRoomFor(visitors),
      serve: (activation) => this.#serve(activation),
      ready: () => {
        this.#isOnline = true
        this.#firstReady.resolve()
        this.#admit(true)
      },
      rejected: (again) => this.#rejected(again),
    })
    this.#streams.fill()
  }

  get isClosed(): boolean {
    return this.#life.signal.aborted
  }

  get stats(): CarrierStats {
    const { serving, ready } = this.#streams
    return { openStreams: serving, readyStreams: ready, webSockets: 0, rttMs: this.#rttMs }
  }

  fill(): void {
    this.#streams.fill()
  }

  drain(): Promise<void> {
    return this.#streams.drain()
  }

  close(): void {
    this.#life.abort()
    this.#streams.stop()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Closes because of `reason`, and reports it to the site. */
  fail(reason: SvcError): void {
    if (this.isClosed) return
    this.close()
    if (this.#isOnline) this.#events.ended(reason)
    else this.#firstReady.reject(reason)
  }

  /** @returns undefined when the relay has no room, or does not know the capability */
  async #open(): Promise<ReadyStream | undefined> {
    this.#dialing += 1
    try {
      const ready = await this.#dial()
      this.#admit(true)
      return ready
    } catch (error) {
      const reason = asSvcError(error, 'relay_unreachable', 'no reverse session could be opened')
      if (this.#isRejection(reason)) return undefined
      if (this.#isLast(reason)) this.fail(reason)
      else if (this.#streams.ready === 0 && this.#dialing === 1) this.#admit(false)
      throw reason
    } finally {
      this.#dialing -= 1
    }
  }

  async #dial(): Promise<ReadyStream> {
    const { signal } = this.#life
    await pause(this.#notBefore - performance.now(), signal)
    const dialed = await this.#dialer.dial(RAW_UPGRADE, this.#events.capability(), signal)
    this.#rttMs = dialed.rttMs
    return this.#idle(dialed)
  }

  #idle({ socket, reset }: Dialed): ReadyStream {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.isClosed) socket.destroy()
    let isIdle = true
    let silence: NodeJS.Timeout | undefined
    const watch = (): void => {
      clearTimeout(silence)
      silence = setTimeout(() => socket.destroy(), SESSION_SILENCE_MAX_MS)
    }
    watch()
    const ready = readyStream(
      new SocketStream(socket, reset, {
        received: (bytes) => {
          if (isIdle) watch()
          this.#heard(bytes)
        },
        sent: (bytes) => {
          this.#traffic.bytesOut += bytes
        },
      }),
    )
    let isRetired = false
    return {
      retire: () => {
        isRetired = true
        ready.retire()
      },
      activation: async () => {
        const activation = await ready.activation()
        // A visitor may be silent for any time.
        isIdle = false
        clearTimeout(silence)
        if (!activation && !isRetired) this.#lostIdle()
        return activation
      },
    }
  }

  /** Handles the end of an idle session. If it was the last, the relay left or ended the lease; the site finds out by reconnecting. */
  #lostIdle(): void {
    const isLast = this.#streams.ready <= 1 && this.#dialing === 0 && this.#streams.serving === 0
    if (isLast) this.fail(new SvcError('relay_unreachable', 'the relay ended the last reverse session'))
  }

  /** Returns whether a refusal counts as a rejection, which depends on the existing sessions: the relay knows this SDK, but takes no session. */
  #isRejection({ code, retryAfterMs }: SvcError): boolean {
    if (LEASE_UNKNOWN.has(code)) return true
    if (code !== 'rate_limited') return false
    this.#notBefore = performance.now() + (retryAfterMs ?? 0)
    return this.#streams.ready > 0
  }

  #isLast({ code }: SvcError): boolean {
    if (code === 'relay_unreachable') this.#contest.missed()
    if (FOR_ALL.has(code)) return true
    const hasVisitors = code === 'rate_limited' && this.#streams.serving > 0
    // This one still counts as being dialed.
    return this.#streams.ready === 0 && this.#dialing === 1 && !hasVisitors
  }

  async #serve(activation: Activation): Promise<void> {
    this.#events.debug({ type: 'visitor', change: 'came', count: this.#streams.serving })
    await this.#events.serve(activation)
    this.#events.debug({ type: 'visitor', change: 'left', count: this.#streams.serving - 1 })
  }

  #rejected(again: boolean): void {
    if (this.#contest.lost())
      this.fail(new SvcError('lease_replaced', 'the same identity keeps registering this name elsewhere'))
    else if (this.#isOnline && !again) {
      this.#admit(false)
      this.#events.stale()
    } else this.fail(new SvcError('stream_rejected', 'the relay takes no reverse session of this lease'))
  }

  #admit(isAdmitting: boolean): void {
    if (!this.#isOnline || this.isClosed || isAdmitting === this.#isAdmitting) return
    this.#isAdmitting = isAdmitting
    this.#events.admits(isAdmitting)
  }

  #heard(bytes: number): void {
    this.#traffic.bytesIn += bytes
    const now = performance.now()
    if (now - this.#tidiedAt >= MAINTENANCE_INTERVAL_MS) {
      this.#tidiedAt = now
      this.#streams.maintain()
    }
    this.#events.traffic()
  }
}
