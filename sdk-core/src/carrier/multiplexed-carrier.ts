// A multiplexed carrier: ready streams on one connection to the relay, or on more when one is not enough.

import { asSvcError, SvcError, type SvcErrorCode } from '../errors.ts'
import { CarrierConnection, type Traffic } from './carrier-connection.ts'
import type { CarrierDebugEvent, ConnectionKind } from './carrier-debug-event.ts'
import type { ConnectionEvents, ConnectionTransport } from './connection-transport.ts'
import { ReadyStreams } from './ready-streams.ts'
import type { Activation, ReadyStream } from './reverse-stream.ts'
import { untilAccepted } from './until-accepted.ts'

/**
 * The most connections of a site: half of what a relay allows, so that old ones may linger there while a site
 * reconnects.
 */
export const CARRIER_CONNECTIONS_MAX = 4
/** The most streams of one connection: a relay takes 1,024, and counts ending ones a little longer. */
export const CONNECTION_STREAMS_MAX = 1000
/** The carrier opens another connection when each has this many streams, so that the next visitors do not wait for it. */
export const CONNECTION_STREAMS_MANY = 768
/**
 * One connection may go when the others would then have less than this share of {@link CONNECTION_STREAMS_MANY} streams
 * each.
 */
const SCALE_DOWN_STREAMS_SHARE = 0.5
/** The pause between two additional connections: the first has to take effect. */
export const SCALE_UP_PAUSE_MS = 3_000
/** After this long without saturation, one connection retires: it gets no more streams. */
export const SCALE_DOWN_IDLE_MS = 60_000
/** Traffic makes a carrier check its load and its ready streams at most this often. */
export const MAINTENANCE_INTERVAL_MS = 500

/** Connect opens one more connection to the relay, and resolves with what `attach` made of it. */
export type Connect = <T extends ConnectionEvents>(
  attach: (transport: ConnectionTransport) => T,
  signal: AbortSignal,
) => Promise<T>

/** A Way is how a carrier reaches the relay. */
export interface Way {
  kind: ConnectionKind
  connect: Connect
}

/** CarrierEvents are the site's answers to a carrier, and the carrier's reports to its site. */
export interface CarrierEvents {
  /** Returns the capability to present now, which may be newer than the carrier. */
  capability(): string
  /** Returns whether this many more visitors may come. When that becomes true, the site calls `fill`. */
  hasRoomFor(visitors: number): boolean
  serve(activation: Activation): Promise<void>
  /** Called when bytes arrive from the relay. */
  traffic(): void
  /** Called when the relay refused the capability: the site renews, then calls `fill`. */
  stale(): void
  /**
   * Called when the relay takes no more sessions while none is ready, or takes them again; never before it took the
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

/** The cost of a saturated connection, in streams: more than any has, so that others are chosen first. */
const SATURATED_COST = 1e6
/** The cost of a retiring connection, in streams: it is chosen last. */
const RETIRING_COST = 2e6

/** Errors with these codes end the lease, and so all its connections. */
const LEASE_OVER: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>(['lease_ended', 'lease_replaced'])

/**
 * Resolves with a carrier once the relay accepted its first stream, so that visitors can come.
 * @throws SvcError the reason for which there is no carrier
 */
export function openMultiplexedCarrier(
  way: Way,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<MultiplexedCarrier> {
  return untilAccepted(new MultiplexedCarrier(way, traffic, events), signal)
}

export class MultiplexedCarrier {
  readonly online: Promise<void>
  #way: Way
  #traffic: Traffic
  #events: CarrierEvents
  #connections: CarrierConnection[] = []
  #streams: ReadyStreams
  #firstReady = Promise.withResolvers<void>()
  #isOnline = false
  /** Aborted when the carrier closes. */
  #life = new AbortController()
  /** Pending while the carrier opens one more connection. */
  #connecting: Promise<void> | undefined
  /** When a connection was last added or missing, and since when one less would be enough. */
  #addedAt = 0
  #fewSince = 0
  #maintainedAt = 0

  constructor(way: Way, traffic: Traffic, events: CarrierEvents) {
    this.#way = way
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
    this.#addConnection().then(
      () => this.#streams.fill(),
      (error) => this.fail(asSvcError(error, 'relay_unreachable', 'no connection could be opened')),
    )
  }

  get isClosed(): boolean {
    return this.#life.signal.aborted
  }

  get stats(): CarrierStats {
    return {
      openStreams: this.#streams.serving,
      readyStreams: this.#streams.ready,
      webSockets: this.#way.kind === 'websocket' ? this.#connections.length : 0,
      rttMs: this.#connections[0]?.rtt,
    }
  }

  /** Opens the missing ready streams, after the site renewed the lease or has room for more visitors. */
  fill(): void {
    this.#streams.fill()
  }

  /** Checks at once whether the relay still answers, after the machine slept or the network changed. */
  probe(): void {
    for (const connection of this.#connections) connection.probe()
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
    for (const connection of this.#connections.splice(0)) connection.close()
  }

  /** Closes the carrier because of `reason`, and reports it. */
  fail(reason: SvcError): void {
    if (this.isClosed) return
    this.close()
    if (this.#isOnline) this.#events.ended(reason)
    else this.#firstReady.reject(reason)
  }

  async #addConnection(): Promise<void> {
    const events = {
      onActivity: () => this.#onActivity(),
      ended: (connection: CarrierConnection, reason: SvcError) => this.#connectionEnded(connection, reason),
    }
    const attach = (transport: ConnectionTransport): CarrierConnection =>
      new CarrierConnection(transport, this.#traffic, events)
    const connection = await this.#way.connect(attach, this.#life.signal)
    if (this.isClosed) connection.close()
    // The connection may have ended already.
    if (connection.isClosed) return
    this.#connections.push(connection)
    this.#events.debug({ type: this.#way.kind, change: 'opened', count: this.#connections.length })
  }

  #connectionEnded(connection: CarrierConnection, reason: SvcError): void {
    this.#remove(connection, reason.code)
    if (LEASE_OVER.has(reason.code)) this.fail(reason)
    else if (this.#connections.length > 0) return
    else if (connection.isLeaving && this.#isOnline) void this.#move(reason)
    else this.fail(reason)
  }

  /** Connects to another machine of the relay after the current one has left. */
  async #move(reason: SvcError): Promise<void> {
    await this.#connectOnce()
    if (this.#connections.length === 0) this.fail(reason)
    else this.#streams.fill()
  }

  /** Adds one connection at a time. Also resolves when that fails: then the open ones must do. */
  #connectOnce(): Promise<void> {
    this.#connecting ??= this.#addConnection()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined
      })
    return this.#connecting
  }

  #remove(connection: CarrierConnection, code: SvcErrorCode | undefined): void {
    this.#connections = this.#connections.filter((other) => other !== connection)
    if (this.#active.length === 0 && this.#connections[0]) this.#connections[0].isRetiring = false
    this.#events.debug({ type: this.#way.kind, change: 'closed', count: this.#connections.length, code })
  }

  /** Opens a stream on the least loaded connection. The carrier opens another connection before all are full. */
  async #openStream(): Promise<ReadyStream | undefined> {
    if (this.#connections.every((connection) => connection.isLeaving)) await this.#connectOnce()
    else if (this.#isCrowded) this.#scaleUp(performance.now())
    if (!this.#leastLoaded && this.#connecting) await this.#connecting
    const connection = this.#leastLoaded
    if (!connection) throw new SvcError('relay_full', 'no free stream')
    const stream = await connection.open(this.#events.capability())
    return stream && { ...stream, activation: () => this.#activationOf(stream, connection) }
  }

  /** When a leaving machine ended the stream, opens another one elsewhere at once. */
  async #activationOf(stream: ReadyStream, connection: CarrierConnection): Promise<Activation | undefined> {
    const activation = await stream.activation()
    // `#streams` counts this stream until this function has returned.
    if (activation === undefined && connection.isLeaving) setTimeout(() => this.#streams.fill())
    return activation
  }

  /** Undefined when each connection has as many streams as a relay takes: the relay ends a connection that opens more. */
  get #leastLoaded(): CarrierConnection | undefined {
    const cost = (connection: CarrierConnection): number =>
      connection.streamCount +
      (connection.saturated ? SATURATED_COST : 0) +
      (connection.isRetiring ? RETIRING_COST : 0)
    const candidates = this.#connections.filter(
      (connection) => connection.streamCount < CONNECTION_STREAMS_MAX && !connection.isLeaving,
    )
    return candidates.reduce<CarrierConnection | undefined>(
      (best, other) => (best && cost(best) <= cost(other) ? best : other),
      undefined,
    )
  }

  /** True when the carrier will soon need another connection. */
  get #isCrowded(): boolean {
    return this.#active.every((connection) => connection.streamCount >= CONNECTION_STREAMS_MANY)
  }

  async #serve(activation: Activation): Promise<void> {
    this.#events.debug({ type: 'visitor', change: 'came', count: this.#streams.serving })
    await this.#events.serve(activation)
    this.#events.debug({ type: 'visitor', change: 'left', count: this.#streams.serving - 1 })
  }

  /** Maintains the carrier on traffic, because keepalives arrive even where timers do not run. */
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
    const streams = active.reduce((sum, connection) => sum + connection.streamCount, 0)
    const isFew = streams < (active.length - 1) * CONNECTION_STREAMS_MANY * SCALE_DOWN_STREAMS_SHARE
    if (active.some((connection) => connection.saturated) || !isFew) this.#fewSince = now
    // One stream cannot be split, so more connections help only when there are more visitors than connections.
    const isSaturated = active.every((connection) => connection.saturated)
    if (isSaturated && this.#streams.serving > active.length) this.#scaleUp(now)
    else if (now - this.#fewSince > SCALE_DOWN_IDLE_MS) this.#scaleDown(now)
  }

  #scaleUp(now: number): void {
    if (this.isClosed || this.#connecting || now - this.#addedAt < SCALE_UP_PAUSE_MS) return
    const retiring = this.#connections.find(
      (connection) => connection.isRetiring && connection.streamCount < CONNECTION_STREAMS_MANY,
    )
    if (retiring) {
      this.#addedAt = now
      retiring.isRetiring = false
      return
    }
    if (this.#connections.length >= CARRIER_CONNECTIONS_MAX) return
    this.#addedAt = now
    // The relay may have no room for another.
    void this.#connectOnce()
  }

  /** Retires the connection with the fewest streams when one less is enough: it gets no more streams. */
  #scaleDown(now: number): void {
    const active = this.#active
    if (active.length < 2) return
    this.#fewSince = now
    active.reduce((least, other) => (other.streamCount < least.streamCount ? other : least)).isRetiring = true
  }

  get #active(): CarrierConnection[] {
    return this.#connections.filter((connection) => !connection.isRetiring && !connection.isLeaving)
  }

  /**
   * Closes a retired connection once its last stream was used: the relay may be claiming a waiting one right now.
   */
  #closeRetired(): void {
    for (const connection of this.#connections) {
      if (!connection.isRetiring || connection.streamCount > 0) continue
      connection.close()
      this.#remove(connection, undefined)
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
