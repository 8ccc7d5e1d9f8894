// Counts the open visitors and their traffic, and reports when the last one of a lease has disconnected.

import type { Lease } from '../lease/lease.ts'
import type { Logger } from '../log/log.ts'
import type { VisitorConnection } from '../reverse/pending-visitor.ts'
import {
  type CountedConnection,
  NO_TRAFFIC,
  type TrafficSink,
  UNCOUNTED,
} from '../traffic/counted-connection.ts'

/** Visitors whose bytes one sample counts, at about 1 µs each: with more of them, only every second sample does, or every third. */
const VISITORS_PER_SAMPLE = 4_000

export interface Traffic {
  /** Bytes that visitors sent, their handshakes included. */
  fromVisitors: number
  toVisitors: number
}

/** How a visitor came to this process. */
export interface VisitorOrigin {
  /** The name of the connection that the site knows, if it asked for it. */
  traceId?: Uint8Array | undefined
  /** Network of the visitor's address; undefined if it is unknown. */
  network?: string | undefined
  /** Whether another process of this machine had the visitor before. @default false */
  isHandedOver?: boolean
  /** Whether another machine, or another connection to this one, has its traffic. @default false */
  isElsewhere?: boolean
}

interface OpenVisitor {
  lease: Lease
  counted: CountedConnection
  /** Bytes that are counted. */
  received: number
  sent: number
}

export class Visitors {
  readonly #log: Logger
  readonly #traffic: TrafficSink
  readonly #open = new Map<VisitorConnection, OpenVisitor>()
  readonly #perLease = new Map<Lease, number>()
  /** Traffic of visitors who have disconnected. */
  readonly #closedTraffic: Traffic = { fromVisitors: 0, toVisitors: 0 }
  /** Visitors of each peer process, by lease. */
  readonly #otherProcesses = new Map<object, Map<Lease, number>>()
  #totalServed = 0
  #onChange: ((lease: Lease) => void) | undefined
  #onLeft: ((lease: Lease) => void) | undefined
  #isClosed = false
  /** Samples since the last one that counted. */
  #withoutCount = 0

  /** @param traffic counts each connection. @default nothing does */
  constructor(log: Logger, traffic: TrafficSink = NO_TRAFFIC) {
    this.#log = log
    this.#traffic = traffic
  }

  get size(): number {
    let size = this.#open.size
    for (const counts of this.#otherProcesses.values()) for (const count of counts.values()) size += count
    return size
  }

  /** Sums the sockets' own counters, so that the data path need not count. */
  get traffic(): Traffic {
    const sum = { ...this.#closedTraffic }
    for (const socket of this.#open.keys()) add(sum, socket)
    return sum
  }

  /**
   * Counts a visitor of this process until `leave` is called. When no more visitors are taken, the visitor is closed.
   * @returns `leave`; undefined when no more visitors are taken
   */
  enter(
    visitor: VisitorConnection,
    lease: Lease,
    { traceId, network, isHandedOver = false, isElsewhere = false }: VisitorOrigin = {},
  ): (() => void) | undefined {
    if (this.#isClosed) {
      visitor.destroy()
      return undefined
    }
    this.#totalServed += 1
    const log = this.#log.isLevelEnabled('debug') ? this.#log.child({ conn: this.#totalServed }) : undefined
    const trace = traceId && Buffer.from(traceId).toString('hex')
    log?.debug({ hostname: lease.hostnames[0], trace }, 'visitor came')
    const counted = isElsewhere ? UNCOUNTED : this.#traffic.connect(lease, network, !isHandedOver)
    this.#open.set(visitor, { lease, counted, received: 0, sent: 0 })
    this.#count(lease, 1)
    return () => {
      log?.debug({ received: visitor.bytesRead, sent: visitor.bytesWritten }, 'visitor left')
      this.#leave(visitor, lease)
    }
  }

  /** Counts what open visitors have transferred since the last time, unless there are too many for every sample. */
  sample(): void {
    this.#withoutCount += 1
    if (this.#withoutCount < this.#open.size / VISITORS_PER_SAMPLE) return
    this.#withoutCount = 0
    for (const [visitor, open] of this.#open) carry(visitor, open)
  }

  /** @param listener called with each lease whose number of visitors has changed */
  onChange(listener: (lease: Lease) => void): void {
    this.#onChange = listener
  }

  /** Records that a peer process has `count` visitors of the lease now. */
  report(process: object, lease: Lease, count: number): void {
    const counts = this.#otherProcesses.get(process) ?? new Map<Lease, number>()
    this.#otherProcesses.set(process, counts)
    const before = counts.get(lease) ?? 0
    if (count > 0) counts.set(lease, count)
    else counts.delete(lease)
    if (counts.size === 0) this.#otherProcesses.delete(process)
    if (count !== before) this.#count(lease, count - before)
  }

  /** Adds what visitors of a peer process transferred since its last report. */
  addTraffic({ fromVisitors, toVisitors }: Traffic): void {
    this.#closedTraffic.fromVisitors += fromVisitors
    this.#closedTraffic.toVisitors += toVisitors
  }

  visitorsOf(lease: Lease): number {
    return this.#perLease.get(lease) ?? 0
  }

  /** Closes the visitors of this process whose lease the policy no longer routes. */
  closeUnrouted(routes: (lease: Lease) => boolean): void {
    const isRouted = new Map<Lease, boolean>()
    for (const [visitor, { lease }] of this.#open) {
      const isReachable = isRouted.get(lease) ?? routes(lease)
      isRouted.set(lease, isReachable)
      if (!isReachable) visitor.destroy()
    }
  }

  /** The peer process that has the most visitors of the lease; undefined when none has any. */
  busiestProcess(lease: Lease): object | undefined {
    let busiest: object | undefined
    let most = 0
    for (const [process, counts] of this.#otherProcesses) {
      const count = counts.get(lease) ?? 0
      if (count > most) busiest = process
      most = Math.max(most, count)
    }
    return busiest
  }

  /**
   * Accepts no more visitors, and waits for the open ones until `signal` aborts.
   * @param onLeaseIdle called with each lease whose last visitor has disconnected
   */
  async drain(onLeaseIdle: (lease: Lease) => void, signal: AbortSignal): Promise<void> {
    this.#isClosed = true
    if (this.#perLease.size === 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve(), { once: true })
    this.#onLeft = (lease) => {
      onLeaseIdle(lease)
      if (this.#perLease.size === 0) resolve()
    }
    await promise
  }

  #leave(visitor: VisitorConnection, lease: Lease): void {
    add(this.#closedTraffic, visitor)
    const open = this.#open.get(visitor)
    if (open !== undefined) {
      carry(visitor, open)
      open.counted.end()
    }
    this.#open.delete(visitor)
    this.#count(lease, -1)
  }

  #count(lease: Lease, delta: number): void {
    const count = this.visitorsOf(lease) + delta
    if (count > 0) this.#perLease.set(lease, count)
    else this.#perLease.delete(lease)
    this.#onChange?.(lease)
    if (count === 0) this.#onLeft?.(lease)
  }
}

function carry({ bytesRead, bytesWritten }: VisitorConnection, open: OpenVisitor): void {
  open.counted.carry(bytesRead - open.received, bytesWritten - open.sent)
  open.received = bytesRead
  open.sent = bytesWritten
}

/** The machine that has a linked visitor's socket counts its bytes. */
function add(sum: Traffic, socket: VisitorConnection): void {
  if (socket.isLinked) return
  sum.fromVisitors += socket.bytesRead
  sum.toVisitors += socket.bytesWritten
}
