// Connects a worker process to the primary process: sends it visitors without a session, and all counts.

import type { Socket } from 'node:net'
import { clearImmediate, setImmediate } from 'node:timers'
import type { Traffic, Visitors } from '../../core/bridge/visitors.ts'
import type { ConnectionLimiter } from '../../core/ingress/connection-limiter.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { FeatureRoute } from '../../core/lease/route.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { HandOverOutcome, PendingVisitor, SessionPeer } from '../../core/reverse/pending-visitor.ts'
import { readyQueueOf } from '../../core/reverse/ready-queues.ts'
import type { TrafficChanges } from '../../core/traffic/traffic-changes.ts'
import type { ToPrimary } from './messages.ts'
import { challengeMessage, featureVisitorMessage, handOverMessage, socketOf } from './socket-handover.ts'

/** Interval at which a worker process reports its counters. */
export const WORKER_REPORT_MS = 250
/**
 * Visitors whose bytes one such report sums, at about 1 µs each: with more of them, only every second report, or every
 * third, has the bytes.
 */
const TRAFFIC_VISITORS_PER_REPORT = 1_000

/** Of so many reports, one has the traffic of each lease: every two seconds. */
const REPORTS_PER_TRAFFIC = 8

interface PrimaryLinkParts {
  visitors: Visitors
  counters: RelayCounters
  connectionLimiter: Pick<ConnectionLimiter, 'silent'>
  traffic: TrafficChanges
}

export class PrimaryLink implements SessionPeer {
  /** Sends the visitors of every feature to the primary process, which knows whether the feature is open. */
  readonly featureRoute: FeatureRoute = {
    to: 'feature',
    isOpen: () => true,
    serve: async (visitor, ...from) => this.#send(featureVisitorMessage(visitor, ...from), visitor),
  }
  readonly #parts: PrimaryLinkParts
  /** Leases whose counts have changed since the last report. */
  readonly #changed = new Set<Lease>()
  #report: NodeJS.Immediate | undefined
  /** Reports since the last one that had the sum of the bytes. */
  #withoutTraffic = 0
  /** Reports since the last one that had the traffic of each lease. */
  #withoutLeases = 0
  /** Gauges and sums of the last report. */
  #reported = { carriers: 0, silent: 0, fromVisitors: 0, toVisitors: 0 }

  constructor(parts: PrimaryLinkParts) {
    this.#parts = parts
    // The primary process decides by the number of sessions, and by whether there are visitors. It shows their number.
    parts.visitors.onChange((lease) => {
      if (parts.visitors.visitorsOf(lease) > 1) this.#changed.add(lease)
      else this.markChanged(lease)
    })
    setInterval(() => {
      this.#reportLeaseCounts()
      this.#reportCounters()
      this.#reportTraffic()
    }, WORKER_REPORT_MS).unref()
  }

  /** Sends a message, or nothing once the primary process has ended: then this process ends, too. */
  send(message: ToPrimary, reported: () => void = () => {}): void {
    process.send?.(message, undefined, {}, reported)
  }

  /** Lets the lease's visitors without a session wait in the primary process, and reports its sessions and connections. */
  watch(lease: Lease): void {
    const ready = readyQueueOf(lease)
    ready.delegateWaitingTo(this)
    ready.onChange(() => this.markChanged(lease))
  }

  handOver(pending: PendingVisitor): HandOverOutcome {
    // The primary process must not send the visitor back for a session that has just been claimed.
    this.#reportLeaseCounts()
    const visitor = socketOf(pending)
    if (!visitor.destroyed) this.#send(handOverMessage(pending), visitor)
    return 'gone'
  }

  /** Lets the primary process prove the name. */
  proveName = (socket: Socket, serverName: string): boolean => {
    this.#send(challengeMessage(socket, serverName), socket)
    return true
  }

  /** Reports the lease's counts at the end of this turn of the event loop. */
  markChanged(lease: Lease): void {
    this.#changed.add(lease)
    this.#report ??= setImmediate(() => this.#reportLeaseCounts())
  }

  /** Sends the message together with the visitor's socket. */
  #send(message: ToPrimary, visitor: Socket): void {
    process.send?.(message, visitor, { keepOpen: true }, () => visitor.destroy())
  }

  #reportLeaseCounts(): void {
    clearImmediate(this.#report)
    this.#report = undefined
    if (this.#changed.size === 0) return
    const leases = [...this.#changed].map((lease) => ({
      lease: lease.id,
      ready: readyQueueOf(lease).size,
      visitors: this.#parts.visitors.visitorsOf(lease),
      connection: readyQueueOf(lease).connection,
    }))
    this.#changed.clear()
    this.send({ kind: 'counts', leases })
  }

  #trafficIfDue(visitors: Visitors): Traffic | undefined {
    this.#withoutTraffic += 1
    if (this.#withoutTraffic < visitors.size / TRAFFIC_VISITORS_PER_REPORT) return undefined
    this.#withoutTraffic = 0
    return visitors.traffic
  }

  #reportTraffic(): void {
    this.#withoutLeases += 1
    if (this.#withoutLeases < REPORTS_PER_TRAFFIC) return
    this.#withoutLeases = 0
    const { visitors, traffic } = this.#parts
    visitors.sample()
    const changes = traffic.take()
    if (changes.length > 0)
      this.send({ kind: 'traffic', leases: changes.map(([lease, change]) => [lease.id, change]) })
  }

  #reportCounters(): void {
    const { counters, visitors, connectionLimiter } = this.#parts
    const { carriers } = counters
    const { silent } = connectionLimiter
    const reported = this.#reported
    const { fromVisitors, toVisitors } = this.#trafficIfDue(visitors) ?? reported
    this.#reported = { carriers, silent, fromVisitors, toVisitors }
    this.send({
      kind: 'counters',
      change: {
        ...counters.take(),
        carriers: carriers - reported.carriers,
        silentInPeers: silent - reported.silent,
      },
      traffic: {
        fromVisitors: fromVisitors - reported.fromVisitors,
        toVisitors: toVisitors - reported.toVisitors,
      },
    })
  }
}
