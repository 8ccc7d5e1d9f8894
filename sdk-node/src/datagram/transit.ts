// Datagrams on their way from one thread to another, counted where both see it: threads do not wait for each other.

import { THREAD_WAITING_MAX } from '../limits.ts'

const WAITING = 0
const DROPPED = 1
const CELLS = 2

export class Transit {
  /** For the other thread, to make the same of it. */
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  /** @returns false when too many are on their way: it is dropped */
  depart(): boolean {
    if (Atomics.add(this.#cells, WAITING, 1) < THREAD_WAITING_MAX) return true
    Atomics.sub(this.#cells, WAITING, 1)
    Atomics.add(this.#cells, DROPPED, 1)
    return false
  }

  /** @returns how many others were dropped since the last one arrived */
  arrive(): number {
    Atomics.sub(this.#cells, WAITING, 1)
    return Atomics.exchange(this.#cells, DROPPED, 0)
  }
}
