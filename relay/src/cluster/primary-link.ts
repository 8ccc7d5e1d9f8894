// Connects a worker process to the primary process: sends it visitors without a session, and all counts.

import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Visitors } from '../bridge/visitors.ts'
import type { ConnectionLimiter } from '../ingress/connection-limiter.ts'
import type { Lease } from '../lease/lease.ts'
import type { FeatureRoute } from '../lease/route.ts'
import { WORKER_REPORT_MS } from '../limits.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { PeerProcess, PendingVisitor } from '../reverse/pending-visitor.ts'
import { readyQueueOf } from '../reverse/ready-queues.ts'
import type { ToPrimary } from './messages.ts'
import { featureVisitorMessage, handOverMessage } from './socket-handover.ts'

interface PrimaryLinkParts {
  visitors: Visitors
  counters: RelayCounters
  connectionLimiter: Pick<ConnectionLimiter, 'silent'>
}

export class PrimaryLink implements PeerProcess {
  /** Leads the visitors of every feature to the primary process, which knows whether the feature is open. */
  readonly featureRoute: FeatureRoute = {
    to: 'feature',
    isOpen: () => true,
    serve: async (visitor, ...from) => this.#send(featureVisitorMessage(visitor, ...from), visitor),
  }
  readonly #parts: PrimaryLinkParts
  /** Leases whose counts have changed since the last report. */
  readonly #changed = new Set<Lease>()
  /** Gauges and sums of the last report. */
  #reported = { carriers: 0, silent: 0, fromVisitors: 0, toVisitors: 0 }

  constructor(parts: PrimaryLinkParts) {
    this.#parts = parts
    parts.visitors.onChange((lease) => this.markChanged(lease))
    setInterval(() => this.#reportCounters(), WORKER_REPORT_MS).unref()
  }

  /** Sends a message, or nothing once the primary process has ended: then this process ends, too. */
  send(message: ToPrimary, reported: () => void = () => {}): void {
    process.send?.(message, undefined, {}, reported)
  }

  /** Lets the lease's visitors without a session wait in the primary process, and reports the number of its sessions. */
  watch(lease: Lease): void {
    const ready = readyQueueOf(lease)
    ready.delegateWaitingTo(this)
    ready.onChange(() => this.markChanged(lease))
  }

  handOver(pending: PendingVisitor): void {
    // The primary process must not send the visitor back for a session that has just been claimed.
    this.#reportLeaseCounts()
    const { visitor } = pending
    if (visitor.destroyed) return
    this.#send(handOverMessage(pending), visitor)
  }

  /** Reports the lease's counts at the end of this turn of the event loop. */
  markChanged(lease: Lease): void {
    if (this.#changed.size === 0) setImmediate(() => this.#reportLeaseCounts())
    this.#changed.add(lease)
  }

  /** Sends the visitor away with the message. */
  #send(message: ToPrimary, visitor: Socket): void {
    process.send?.(message, visitor, { keepOpen: true }, () => visitor.destroy())
  }

  #reportLeaseCounts(): void {
    if (this.#changed.size === 0) return
    const leases = [...this.#changed].map((lease) => ({
      lease: lease.id,
      ready: readyQueueOf(lease).size,
      visitors: this.#parts.visitors.visitorsOf(lease),
    }))
    this.#changed.clear()
    this.send({ kind: 'counts', leases })
  }

  #reportCounters(): void {
    const { counters, visitors, connectionLimiter } = this.#parts
    const { carriers } = counters
    const { silent } = connectionLimiter
    const { fromVisitors, toVisitors } = visitors.traffic
    const reported = this.#reported
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
