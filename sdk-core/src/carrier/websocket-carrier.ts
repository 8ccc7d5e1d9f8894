// A site's way to its visitors: one WebSocket, more where one is not enough, and streams ready on them.

import { asSvcError, SvcError, type SvcErrorCode } from '../errors.ts'
import {
  LINK_IDLE_MS,
  LINK_PAUSE_MS,
  LINK_STREAMS_FEW_SHARE,
  LINK_STREAMS_MANY,
  LINK_STREAMS_MAX,
  LINKS_MAX,
  TIDY_INTERVAL_MS,
} from '../limits.ts'
import type { CarrierDebugEvent } from './carrier-debug-event.ts'
import { Link, type Traffic } from './carrier-socket.ts'
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
export function openCarrier(
  connect: Connect,
  traffic: Traffic,
  events: CarrierEvents,
  signal: AbortSignal,
): Promise<Carrier> {
  return untilOnline(new Carrier(connect, traffic, events), signal)
}

export class Carrier {
  readonly online: Promise<void>
  #connect: Connect
  #traffic: Traffic
  #events: CarrierEvents
  #links: Link[] = []
  #streams: ReadyStreams
  #firstReady = Promise.withResolvers<void>()
  #isOnline = false
  /** Aborted when the carrier closes. */
  #life = new AbortController()
  /** One more WebSocket is on its way. */
  #connecting: Promise<void> | undefined
  /** When a WebSocket was last added or wished for, and since when one less would do. */
  #addedAt = 0
  #enoughSince = 0
  #tidiedAt = 0

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
    this.#addLink().then(
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
      webSockets: this.#links.length,
      rttMs: this.#links[0]?.rtt,
    }
  }

  /** Opens the ready streams that are missing: the lease was renewed, or there is room for more visitors. */
  fill(): void {
    this.#streams.fill()
  }

  /** Finds out now whether the relay still answers: the machine slept, or the network changed. */
  probe(): void {
    for (const link of this.#links) link.probe()
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
    for (const link of this.#links.splice(0)) link.close()
  }

  /** Closes because of `reason`, and tells. */
  fail(reason: SvcError): void {
    if (this.isClosed) return
    this.close()
    if (this.#isOnline) this.#events.ended(reason)
    else this.#firstReady.reject(reason)
  }

  async #addLink(): Promise<void> {
    const events = {
      heard: () => this.#heard(),
      ended: (link: Link, reason: SvcError) => this.#linkEnded(link, reason),
    }
    const attach = (transport: WebSocketTransport): Link => new Link(transport, this.#traffic, events)
    const link = await this.#connect(attach, this.#life.signal)
    if (this.isClosed) link.close()
    // it may have ended already
    if (link.isClosed) return
    this.#links.push(link)
    this.#events.debug({ type: 'websocket', change: 'opened', count: this.#links.length })
  }

  #linkEnded(link: Link, reason: SvcError): void {
    this.#remove(link, reason.code)
    if (this.#links.length === 0 || LEASE_OVER.has(reason.code)) this.fail(reason)
  }

  #remove(link: Link, code: SvcErrorCode | undefined): void {
    this.#links = this.#links.filter((other) => other !== link)
    if (this.#staying.length === 0 && this.#links[0]) this.#links[0].isRetiring = false
    this.#events.debug({ type: 'websocket', change: 'closed', count: this.#links.length, code })
  }

  /** On the WebSocket that has the most to give. One more is opened before those that there are have no room. */
  async #openStream(): Promise<ReadyStream | undefined> {
    if (this.#isCrowded) this.#spread(performance.now())
    if (!this.#best && this.#connecting) await this.#connecting
    const link = this.#best
    if (!link) throw new SvcError('relay_full', 'no WebSocket has room for another stream')
    return link.open(this.#events.capability())
  }

  /** Undefined when each has as many streams as a relay takes: one more would cost all of them. */
  get #best(): Link | undefined {
    const cost = (link: Link): number =>
      link.streamCount + (link.saturated ? SATURATED_COST : 0) + (link.isRetiring ? RETIRING_COST : 0)
    const links = this.#links.filter((link) => link.streamCount < LINK_STREAMS_MAX)
    return links.reduce<Link | undefined>(
      (best, other) => (best && cost(best) <= cost(other) ? best : other),
      undefined,
    )
  }

  /** Another WebSocket will be needed soon. */
  get #isCrowded(): boolean {
    return this.#staying.every((link) => link.streamCount >= LINK_STREAMS_MANY)
  }

  async #serve(activation: Activation): Promise<void> {
    this.#events.debug({ type: 'visitor', change: 'came', count: this.#streams.serving })
    await this.#events.serve(activation)
    this.#events.debug({ type: 'visitor', change: 'left', count: this.#streams.serving - 1 })
  }

  /** Traffic drives what has to be done now and then: keepalives come even where timers do not run. */
  #heard(): void {
    const now = performance.now()
    if (now - this.#tidiedAt >= TIDY_INTERVAL_MS) {
      this.#tidiedAt = now
      this.#streams.tidy()
      this.#followLoad(now)
      this.#closeRetired()
    }
    this.#events.traffic()
  }

  #followLoad(now: number): void {
    const staying = this.#staying
    const streams = staying.reduce((sum, link) => sum + link.streamCount, 0)
    const isFew = streams < (staying.length - 1) * LINK_STREAMS_MANY * LINK_STREAMS_FEW_SHARE
    if (staying.some((link) => link.saturated) || !isFew) this.#enoughSince = now
    // One stream cannot be spread: more WebSockets help only where visitors are more than these.
    const isSaturated = staying.every((link) => link.saturated)
    if (isSaturated && this.#streams.serving > staying.length) this.#spread(now)
    else if (now - this.#enoughSince > LINK_IDLE_MS) this.#gather(now)
  }

  #spread(now: number): void {
    if (this.isClosed || this.#connecting || now - this.#addedAt < LINK_PAUSE_MS) return
    const retiring = this.#links.find((link) => link.isRetiring && link.streamCount < LINK_STREAMS_MANY)
    if (retiring) {
      this.#addedAt = now
      retiring.isRetiring = false
      return
    }
    if (this.#links.length >= LINKS_MAX) return
    this.#addedAt = now
    // The relay may have no room for another: what is there must do.
    this.#connecting = this.#addLink()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined
      })
  }

  /** One WebSocket less will do: the one with the least to do gets no more streams. */
  #gather(now: number): void {
    const staying = this.#staying
    if (staying.length < 2) return
    this.#enoughSince = now
    staying.reduce((least, other) =>
      other.streamCount < least.streamCount ? other : least,
    ).isRetiring = true
  }

  get #staying(): Link[] {
    return this.#links.filter((link) => !link.isRetiring)
  }

  /** Once the last stream on it was used: a relay may be handing out those that wait at this moment. */
  #closeRetired(): void {
    for (const link of this.#links) {
      if (!link.isRetiring || link.streamCount > 0) continue
      link.close()
      this.#remove(link, undefined)
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
