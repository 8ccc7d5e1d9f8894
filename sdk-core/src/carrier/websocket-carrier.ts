// The carrier over WebSockets, with ready streams on them: one WebSocket, or more where one does not suffice.

import { asSvcError, SvcError, type SvcErrorCode } from '../errors.ts'
import {
  CARRIER_SOCKETS_MAX,
  MAINTENANCE_INTERVAL_MS,
  SCALE_DOWN_IDLE_MS,
  SCALE_DOWN_STREAMS_SHARE,
  SCALE_UP_PAUSE_MS,
  SOCKET_STREAMS_MANY,
  SOCKET_STREAMS_MAX,
} from '../limits.ts'
import type { CarrierDebugEvent } from './carrier-debug-event.ts'
import { CarrierSocket, type Traffic } from './carrier-socket.ts'
import { ReadyStreams } from './ready-streams.ts'
import type { Activation, ReadyStream } from './reverse-stream.ts'
import { untilAccepted } from './until-accepted.ts'
import type { WebSocketEvents, WebSocketTransport } from './websocket-transport.ts'

/** Connect opens one more WebSocket to the relay. */
export type Connect = <T extends WebSocketEvents>(
  attach: (transport: WebSocketTransport) => T,
  signal: AbortSignal,
) => Promise<T>

/** CarrierEvents are the site's answers to a carrier, and the carrier's reports to its site. */
export interface CarrierEvents {
  /** Returns the capability to present now, which may be newer than the carrier. */
  capability(): string
  /** Says whether so many more visitors may come. When that becomes true, the site calls `fill`. */
  hasRoomFor(visitors: number): boolean
  serve(activation: Activation): Promise<void>
  /** Called when bytes came from the relay. */
  traffic(): void
  /** Called when the relay refused the capability: the site renews, then calls `fill`. */
  stale(): void
  /**
   * Called when the relay takes no more sessions while none is ready, or takes them again; not before it took the
   * first.
   */
  admits(isAdmitting: boolean): void
  /** Called once when a carrier that was online ends, but not after `close`. */
  ended(reason: SvcError): void
  debug(event: CarrierDebugEvent): void
}

/** CarrierStats are the figures of a carrier at one moment. */
export interface CarrierStats {
  /** The number of visitors' connections that the SDK serves. */
  openStreams: number
  /** The number of streams that wait for a visitor. */
  readyStreams: number
  webSockets: number
  /** The last round trip to the relay, in milliseconds. */
  rttMs: number | undefined
}

/** The cost of a saturated WebSocket, in streams: more than any has, so that it is chosen late. */
const SATURATED_COST = 1e6
/** The cost of a retiring WebSocket, in streams: it is chosen last. */
const RETIRING_COST = 2e6

/** These codes concern the lease, and so every WebSocket of it. */
const LEASE_OVER: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>(['lease_ended', 'lease_replaced'])

/**
 * Resolves with a carrier once the relay accepted its first stream, so that visitors can come.
 * @throws SvcError the reason for which there is no carrier
 */
export function openWebSocketCarrier(
  connect: Connect,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<WebSocketCarrier> {
  return untilAccepted(new WebSocketCarrier(connect, traffic, events), signal)
}

export class WebSocketCarrier {
  readonly online: Promise<void>
  #connect: Connect
  #traffic: Traffic
  #events: CarrierEvents
  #sockets: CarrierSocket[] = []
  #streams: ReadyStreams
  #firstReady = Promise.withResolvers<void>()
  #isOnline = false
  /** Aborted when the carrier closes. */
  #life = new AbortController()
  /** Pending while the carrier opens one more WebSocket. */
  #connecting: Promise<void> | undefined
  /** The time at which a WebSocket was last added or was missing, and since when one less would suffice. */
  #addedAt = 0
  #fewSince = 0
  #maintainedAt = 0

  constructor(connect: Connect, traffic: Traffic, events: CarrierEvents) {
    this.#connect = connect
    this.#traffic = traffic
    this.#events = events
    this.online = this.#firstReady.promise
    this.#streams = new ReadyStreams({
      open: () => this.#openStream(),
      hasRoomFor: (visitors) => events.hasRoomFor(visitors),
      serve: (activation) => this.#serve(activation),
      ready: () => this.#admitted(),
      rejected: (again) => this.#rejected(again),
    })
    this.#addSocket().then(
      () => this.#streams.fill(),
      (error) => this.fail(asSvcError(error, 'relay_unreachable', 'no WebSocket could be opened')),
    )
  }

  get isClosed(): boolean {
    return this.#life.signal.aborted
  }

  get stats(): CarrierStats {
    return {
      openStreams: this.#streams.serving,
      readyStreams: this.#streams.ready,
      webSockets: this.#sockets.length,
      rttMs: this.#sockets[0]?.rtt,
    }
  }

  /** Opens the ready streams that are missing: the site renewed the lease, or has room for more visitors. */
  fill(): void {
    this.#streams.fill()
  }

  /** Checks at once whether the relay still answers: the machine slept, or the network changed. */
  probe(): void {
    for (const socket of this.#sockets) socket.probe()
  }

  /** Accepts no more visitors. Resolves when the connected ones have left. */
  drain(): Promise<void> {
    return this.#streams.drain()
  }

  /** Closes the carrier without an event. Connections that it serves end with it. */
  close(): void {
    if (this.isClosed) return
    this.#life.abort()
    this.#streams.stop()
    for (const socket of this.#sockets.splice(0)) socket.close()
  }

  /** Closes the carrier because of `reason`, and reports it. */
  fail(reason: SvcError): void {
    if (this.isClosed) return
    this.close()
    if (this.#isOnline) this.#events.ended(reason)
    else this.#firstReady.reject(reason)
  }

  async #addSocket(): Promise<void> {
    const events = {
      onActivity: () => this.#onActivity(),
      ended: (socket: CarrierSocket, reason: SvcError) => this.#socketEnded(socket, reason),
    }
    const attach = (transport: WebSocketTransport): CarrierSocket =>
      new CarrierSocket(transport, this.#traffic, events)
    const socket = await this.#connect(attach, this.#life.signal)
    if (this.isClosed) socket.close()
    // The socket may have ended already.
    if (socket.isClosed) return
    this.#sockets.push(socket)
    this.#events.debug({ type: 'websocket', change: 'opened', count: this.#sockets.length })
  }

  #socketEnded(socket: CarrierSocket, reason: SvcError): void {
    this.#remove(socket, reason.code)
    if (this.#sockets.length === 0 || LEASE_OVER.has(reason.code)) this.fail(reason)
  }

  #remove(socket: CarrierSocket, code: SvcErrorCode | undefined): void {
    this.#sockets = this.#sockets.filter((other) => other !== socket)
    if (this.#active.length === 0 && this.#sockets[0]) this.#sockets[0].isRetiring = false
    this.#events.debug({ type: 'websocket', change: 'closed', count: this.#sockets.length, code })
  }

  /** Opens a stream on the least loaded WebSocket. The carrier opens another WebSocket before all are full. */
  async #openStream(): Promise<ReadyStream | undefined> {
    if (this.#isCrowded) this.#scaleUp(performance.now())
    if (!this.#leastLoaded && this.#connecting) await this.#connecting
    const socket = this.#leastLoaded
    if (!socket) throw new SvcError('relay_full', 'no WebSocket has room for another stream')
    return socket.open(this.#events.capability())
  }

  /** Undefined when each WebSocket has as many streams as a relay takes: the relay would end one that opens more. */
  get #leastLoaded(): CarrierSocket | undefined {
    const cost = (socket: CarrierSocket): number =>
      socket.streamCount + (socket.saturated ? SATURATED_COST : 0) + (socket.isRetiring ? RETIRING_COST : 0)
    const candidates = this.#sockets.filter((socket) => socket.streamCount < SOCKET_STREAMS_MAX)
    return candidates.reduce<CarrierSocket | undefined>(
      (best, other) => (best && cost(best) <= cost(other) ? best : other),
      undefined,
    )
  }

  /** True when the carrier will soon need another WebSocket. */
  get #isCrowded(): boolean {
    return this.#active.every((socket) => socket.streamCount >= SOCKET_STREAMS_MANY)
  }

  async #serve(activation: Activation): Promise<void> {
    this.#events.debug({ type: 'visitor', change: 'came', count: this.#streams.serving })
    await this.#events.serve(activation)
    this.#events.debug({ type: 'visitor', change: 'left', count: this.#streams.serving - 1 })
  }

  /** Does the maintenance on traffic: keepalives come even where timers do not run. */
  #onActivity(): void {
    const now = performance.now()
    if (now - this.#maintainedAt >= MAINTENANCE_INTERVAL_MS) {
      this.#maintainedAt = now
      this.#streams.maintain()
      this.#followLoad(now)
      this.#closeRetired()
    }
    this.#events.traffic()
  }

  #followLoad(now: number): void {
    const active = this.#active
    const streams = active.reduce((sum, socket) => sum + socket.streamCount, 0)
    const isFew = streams < (active.length - 1) * SOCKET_STREAMS_MANY * SCALE_DOWN_STREAMS_SHARE
    if (active.some((socket) => socket.saturated) || !isFew) this.#fewSince = now
    // One stream cannot be spread, so more WebSockets help only where there are more visitors than WebSockets.
    const isSaturated = active.every((socket) => socket.saturated)
    if (isSaturated && this.#streams.serving > active.length) this.#scaleUp(now)
    else if (now - this.#fewSince > SCALE_DOWN_IDLE_MS) this.#scaleDown(now)
  }

  #scaleUp(now: number): void {
    if (this.isClosed || this.#connecting || now - this.#addedAt < SCALE_UP_PAUSE_MS) return
    const retiring = this.#sockets.find(
      (socket) => socket.isRetiring && socket.streamCount < SOCKET_STREAMS_MANY,
    )
    if (retiring) {
      this.#addedAt = now
      retiring.isRetiring = false
      return
    }
    if (this.#sockets.length >= CARRIER_SOCKETS_MAX) return
    this.#addedAt = now
    // The relay may have no room for another. Then the open ones must suffice.
    this.#connecting = this.#addSocket()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined
      })
  }

  /** Retires the WebSocket with the fewest streams when one less suffices: it gets no more streams. */
  #scaleDown(now: number): void {
    const active = this.#active
    if (active.length < 2) return
    this.#fewSince = now
    active.reduce((least, other) => (other.streamCount < least.streamCount ? other : least)).isRetiring = true
  }

  get #active(): CarrierSocket[] {
    return this.#sockets.filter((socket) => !socket.isRetiring)
  }

  /**
   * Closes a retired WebSocket once its last stream was used: the relay may be claiming those that wait at this moment.
   */
  #closeRetired(): void {
    for (const socket of this.#sockets) {
      if (!socket.isRetiring || socket.streamCount > 0) continue
      socket.close()
      this.#remove(socket, undefined)
    }
  }

  #admitted(): void {
    if (this.#isOnline) this.#events.admits(true)
    this.#isOnline = true
    this.#firstReady.resolve()
  }

  #rejected(again: boolean): void {
    if (this.#isOnline && !again) {
      this.#events.admits(false)
      this.#events.stale()
    } else this.fail(new SvcError('stream_rejected', 'the relay takes no reverse stream of this lease'))
  }
}
