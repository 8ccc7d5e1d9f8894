// The carrier over WebSockets: one, or more where one is not enough, with ready streams on them.

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
import { untilOnline } from './until-online.ts'
import type { WebSocketEvents, WebSocketTransport } from './websocket-transport.ts'

/** Opens one more WebSocket to the relay. */
export type Connect = <T extends WebSocketEvents>(
  attach: (transport: WebSocketTransport) => T,
  signal: AbortSignal,
) => Promise<T>

/** Through CarrierEvents a carrier asks its site, and tells it. */
export interface CarrierEvents {
  /** The capability to present: that of now, not of when the carrier opened. */
  capability(): string
  /** Whether so many more visitors may come; when that changes from no to yes, `fill` is called. */
  hasRoomFor(visitors: number): boolean
  serve(activation: Activation): Promise<void>
  /** Bytes came from the relay. */
  traffic(): void
  /** The relay refused the capability: renew, then call `fill`. */
  stale(): void
  /** The relay takes no more sessions while none is ready, or takes them again. Not called before it took the first. */
  admits(isAdmitting: boolean): void
  /** The carrier, once online, is gone. Called once, unless `close` was. */
  ended(reason: SvcError): void
  debug(event: CarrierDebugEvent): void
}

/** CarrierStats are the figures of a carrier at one moment. */
export interface CarrierStats {
  /** Visitors' connections that are being served. */
  openStreams: number
  /** Streams that wait for a visitor. */
  readyStreams: number
  webSockets: number
  /** Last round trip to the relay, in milliseconds. */
  rttMs: number | undefined
}

/** As many streams as no WebSocket has: a saturated one is chosen late, … */
const SATURATED_COST = 1e6
/** … and one that is about to go last. */
const RETIRING_COST = 2e6

/** They concern the lease, and so every WebSocket of it. */
const LEASE_OVER: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>(['lease_ended', 'lease_replaced'])

/**
 * Resolves once the relay accepted the first stream, so that visitors can come.
 * @throws SvcError why there is no carrier
 */
export function openWebSocketCarrier(
  connect: Connect,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<WebSocketCarrier> {
  return untilOnline(new WebSocketCarrier(connect, traffic, events), signal)
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
  /** One more WebSocket is on its way. */
  #connecting: Promise<void> | undefined
  /** When a WebSocket was last added or wished for, and since when one less would do. */
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

  /** Opens the ready streams that are missing: the lease was renewed, or there is room for more visitors. */
  fill(): void {
    this.#streams.fill()
  }

  /** Finds out now whether the relay still answers: the machine slept, or the network changed. */
  probe(): void {
    for (const socket of this.#sockets) socket.probe()
  }

  /** No more visitors. Resolves when those who are here have left. */
  drain(): Promise<void> {
    return this.#streams.drain()
  }

  /** Closes without an event. Connections that are being served end with it. */
  close(): void {
    if (this.isClosed) return
    this.#life.abort()
    this.#streams.stop()
    for (const socket of this.#sockets.splice(0)) socket.close()
  }

  /** Closes because of `reason`, and tells. */
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
    // it may have ended already
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

  /** On the WebSocket that has the most to give. One more is opened before those that there are have no room. */
  async #openStream(): Promise<ReadyStream | undefined> {
    if (this.#isCrowded) this.#scaleUp(performance.now())
    if (!this.#leastLoaded && this.#connecting) await this.#connecting
    const socket = this.#leastLoaded
    if (!socket) throw new SvcError('relay_full', 'no WebSocket has room for another stream')
    return socket.open(this.#events.capability())
  }

  /** Undefined when each has as many streams as a relay takes: one more would cost all of them. */
  get #leastLoaded(): CarrierSocket | undefined {
    const cost = (socket: CarrierSocket): number =>
      socket.streamCount + (socket.saturated ? SATURATED_COST : 0) + (socket.isRetiring ? RETIRING_COST : 0)
    const candidates = this.#sockets.filter((socket) => socket.streamCount < SOCKET_STREAMS_MAX)
    return candidates.reduce<CarrierSocket | undefined>(
      (best, other) => (best && cost(best) <= cost(other) ? best : other),
      undefined,
    )
  }

  /** Another WebSocket will be needed soon. */
  get #isCrowded(): boolean {
    return this.#active.every((socket) => socket.streamCount >= SOCKET_STREAMS_MANY)
  }

  async #serve(activation: Activation): Promise<void> {
    this.#events.debug({ type: 'visitor', change: 'came', count: this.#streams.serving })
    await this.#events.serve(activation)
    this.#events.debug({ type: 'visitor', change: 'left', count: this.#streams.serving - 1 })
  }

  /** Traffic drives the maintenance: keepalives come even where timers do not run. */
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
    // One stream cannot be spread: more WebSockets help only where visitors are more than these.
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
    // The relay may have no room for another: what is there must do.
    this.#connecting = this.#addSocket()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined
      })
  }

  /** One WebSocket less will do: the one with the least to do gets no more streams. */
  #scaleDown(now: number): void {
    const active = this.#active
    if (active.length < 2) return
    this.#fewSince = now
    active.reduce((least, other) => (other.streamCount < least.streamCount ? other : least)).isRetiring = true
  }

  get #active(): CarrierSocket[] {
    return this.#sockets.filter((socket) => !socket.isRetiring)
  }

  /** Once the last stream on it was used: a relay may be handing out those that wait at this moment. */
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
