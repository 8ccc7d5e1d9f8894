// A worker's line to the first process: visitors without a session go there, and so does all that is counted.

import { setImmediate } from 'node:timers'
import type { DataPlane } from '../data-plane.ts'
import type { Lease } from '../lease/lease.ts'
import { WORKER_REPORT_MS } from '../limits.ts'
import type { PeerProcess, PendingVisitor } from '../reverse/pending-visitor.ts'
import type { ToPrimary } from './messages.ts'
import { handOverMessage } from './socket-handover.ts'

export class PrimaryLink implements PeerProcess {
  readonly #dataPlane: DataPlane
  /** Leases whose numbers have changed since they were told. */
  readonly #changed = new Set<Lease>()
  /** What was told of gauges and sums. */
  #reported = { carriers: 0, silent: 0, fromVisitors: 0, toVisitors: 0 }

  constructor(dataPlane: DataPlane) {
    this.#dataPlane = dataPlane
    dataPlane.visitors.onChange((lease) => this.markChanged(lease))
    setInterval(() => this.#reportCounters(), WORKER_REPORT_MS).unref()
  }

  /** Without the first process there is nobody to tell: this one ends, too. */
  send(message: ToPrimary, reported: () => void = () => {}): void {
    process.send?.(message, undefined, {}, reported)
  }

  /** Its visitors without a session wait in the first process, which is told how many sessions there are. */
  watch(lease: Lease): void {
    lease.ready.delegateWaitingTo(this)
    lease.ready.onChange(() => this.markChanged(lease))
  }

  handOver(pending: PendingVisitor): void {
    // The first process shall not send the visitor back for a session that has just been claimed.
    this.#reportLeaseCounts()
    const { visitor } = pending
    if (visitor.destroyed) return
    process.send?.(handOverMessage(pending), visitor, { keepOpen: true }, () => visitor.destroy())
  }

  /** The lease's numbers are told, as they are at the end of this turn of the event loop. */
  markChanged(lease: Lease): void {
    if (this.#changed.size === 0) setImmediate(() => this.#reportLeaseCounts())
    this.#changed.add(lease)
  }

  #reportLeaseCounts(): void {
    if (this.#changed.size === 0) return
    const leases = [...this.#changed].map((lease) => ({
      lease: lease.id,
      ready: lease.ready.size,
      visitors: this.#dataPlane.visitors.visitorsOf(lease),
    }))
    this.#changed.clear()
    this.send({ kind: 'counts', leases })
  }

  #reportCounters(): void {
    const { counters, visitors, connectionLimiter } = this.#dataPlane
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
        silentElsewhere: silent - reported.silent,
      },
      traffic: {
        fromVisitors: fromVisitors - reported.fromVisitors,
        toVisitors: toVisitors - reported.toVisitors,
      },
    })
  }
}
