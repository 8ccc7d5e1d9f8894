// A worker's line to the first process: visitors without a session go there, and so does all that is counted.

import { setImmediate } from 'node:timers'
import type { PublicPlane } from '../data-plane.ts'
import type { Lease } from '../lease/lease.ts'
import { WORKER_REPORT_MS } from '../limits.ts'
import type { Arrival, Place } from '../reverse/pending-visitor.ts'
import type { ToFirst } from './messages.ts'
import { leave } from './socket-handover.ts'

export class Uplink implements Place {
  readonly #plane: PublicPlane
  /** Leases whose numbers have changed since they were told. */
  readonly #changed = new Set<Lease>()
  /** What was told of gauges and sums. */
  #told = { carriers: 0, silent: 0, fromVisitors: 0, toVisitors: 0 }

  constructor(plane: PublicPlane) {
    this.#plane = plane
    plane.visitors.onChange((lease) => this.note(lease))
    setInterval(() => this.#tellTally(), WORKER_REPORT_MS).unref()
  }

  /** Without the first process there is nobody to tell: this one ends, too. */
  tell(message: ToFirst, told: () => void = () => {}): void {
    process.send?.(message, undefined, {}, told)
  }

  /** Its visitors without a session wait in the first process, which is told how many sessions there are. */
  watch(lease: Lease): void {
    lease.ready.waitIn(this)
    lease.ready.onChange(() => this.note(lease))
  }

  handOver(arrival: Arrival): void {
    // The first process shall not send the visitor back for a session that has just been claimed.
    this.#tellCounts()
    const { visitor } = arrival
    if (visitor.destroyed) return
    process.send?.(leave(arrival), visitor, { keepOpen: true }, () => visitor.destroy())
  }

  /** The lease's numbers are told, as they are at the end of this turn of the event loop. */
  note(lease: Lease): void {
    if (this.#changed.size === 0) setImmediate(() => this.#tellCounts())
    this.#changed.add(lease)
  }

  #tellCounts(): void {
    if (this.#changed.size === 0) return
    const leases = [...this.#changed].map((lease) => ({
      lease: lease.id,
      ready: lease.ready.size,
      visitors: this.#plane.visitors.visitorsOf(lease),
    }))
    this.#changed.clear()
    this.tell({ kind: 'counts', leases })
  }

  #tellTally(): void {
    const { tally, visitors, door } = this.#plane
    const { carriers } = tally
    const { silent } = door
    const { fromVisitors, toVisitors } = visitors.traffic
    const told = this.#told
    this.#told = { carriers, silent, fromVisitors, toVisitors }
    this.tell({
      kind: 'tally',
      change: {
        ...tally.take(),
        carriers: carriers - told.carriers,
        silentElsewhere: silent - told.silent,
      },
      traffic: { fromVisitors: fromVisitors - told.fromVisitors, toVisitors: toVisitors - told.toVisitors },
    })
  }
}
