// The receive window of a stream: it bounds what the peer sends, gives credit, and grows with bandwidth × delay.

import type { MemoryMeter } from './session-owner.ts'

/** WindowBudget is the memory that all windows of a session share to grow beyond their initial size. */
export class WindowBudget {
  #left: number
  readonly #memory: Pick<MemoryMeter, 'mayGrow'> | undefined

  constructor(bytes: number, memory?: Pick<MemoryMeter, 'mayGrow'>) {
    this.#left = bytes
    this.#memory = memory
  }

  take(bytes: number): number {
    if (this.#memory?.mayGrow === false) return 0
    const taken = Math.min(bytes, this.#left)
    this.#left -= taken
    return taken
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}

export class ReceiveWindow {
  readonly #initial: number
  readonly #max: number
  readonly #budget: WindowBudget
  #size: number
  /** The bytes that the peer may still send. */
  #available: number
  /** The bytes that were read since the last credit. */
  #read = 0
  #creditedAt: number = performance.now()

  constructor(initial: number, max: number, budget: WindowBudget) {
    this.#initial = initial
    this.#max = max
    this.#budget = budget
    this.#size = initial
    this.#available = initial
  }

  /** The size of the window, in bytes. */
  get size(): number {
    return this.#size
  }

  /**
   * Subtracts the `bytes` that the peer announces from the window.
   * @returns false when they exceed the window
   */
  reserve(bytes: number): boolean {
    if (bytes > this.#available) return false
    this.#available -= bytes
    return true
  }

  /**
   * Notes that `bytes` were read.
   * @param rttMs the round trip in milliseconds; undefined to not grow the window
   * @returns the credit to give now; 0 until half of the window was read
   */
  consume(bytes: number, rttMs: number | undefined): number {
    this.#read += bytes
    if (this.#read < this.#size / 2) return 0
    const now = performance.now()
    const credit = this.#read + (rttMs === undefined ? 0 : this.#grow(now - this.#creditedAt, rttMs))
    this.#available += credit
    this.#read = 0
    this.#creditedAt = now
    return credit
  }

  /** Returns the memory by which the window grew, when the stream is over. */
  release(): void {
    this.#budget.give(this.#size - this.#initial)
    this.#size = this.#initial
  }

  /**
   * Doubles the window while it limits the peer. A window below the product of bandwidth and delay makes the peer
   * pause every round trip, and one below twice that sometimes, because credit is given in halves. A peer that the
   * window limits sends exactly one window per round trip, so the window doubles until it no longer does.
   */
  #grow(elapsedMs: number, rttMs: number): number {
    const wanted = Math.min(this.#max, Math.ceil((2 * this.#read * rttMs) / Math.max(elapsedMs, 1)))
    const growth = this.#budget.take(Math.max(0, wanted - this.#size))
    this.#size += growth
    return growth
  }
}
