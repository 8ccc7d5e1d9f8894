// Counts the datagrams in flight from one thread to another, where both see it: neither thread waits for the other.

import { THREAD_WAITING_MAX } from '../limits.ts'

const WAITING = 0
const DROPPED = 1
const CELLS = 2

export class InFlightCounter {
  /** The other thread makes its counter of this. */
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  /** Counts one more. @returns false when too many are in flight: the caller drops it, and that is counted */
  tryAdd(): boolean {
    if (Atomics.add(this.#cells, WAITING, 1) < THREAD_WAITING_MAX) return true
    Atomics.sub(this.#cells, WAITING, 1)
    Atomics.add(this.#cells, DROPPED, 1)
    return false
  }

  /** Counts one as arrived. @returns how many were dropped since the last arrival */
  remove(): number {
    Atomics.sub(this.#cells, WAITING, 1)
    return Atomics.exchange(this.#cells, DROPPED, 0)
  }
}
