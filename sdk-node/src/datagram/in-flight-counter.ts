// Counts the datagrams in flight between two threads, in shared memory and without locks.

/** How many visitors' datagrams are delivered before answers are read again: as many as Node reads from a socket in one turn. */
export const DELIVERY_PORTION = 32
/** The most datagrams in flight to the thread of the WASM client, and as many back; further ones are dropped. */
const THREAD_WAITING_MAX = 4096

const WAITING = 0
const DROPPED = 1
const CELLS = 2

export class InFlightCounter {
  /** The memory from which the other thread makes its counter. */
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  /** Counts one more. @returns false when too many are in flight: the caller must drop it, and the drop is counted */
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
