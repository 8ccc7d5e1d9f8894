// Reports, at most once a second, that connections were closed for others, or that none could be.

import { FULL_TOLD_AFTER_MS, PRESSURE_INTERVAL_MS } from '../limits.ts'

export class PressureReporter {
  readonly #tell: (closedForOthers: number, isFull: boolean) => void
  /** Since the last time it was told. */
  #closed = 0
  /** By `performance.now()`; undefined while there is room. */
  #fullSince: number | undefined
  #wasToldFull = false
  #toldAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param tell is called once a second at most, and never from within what is reported */
  constructor(tell: (closedForOthers: number, isFull: boolean) => void) {
    this.#tell = tell
  }

  /** A connection was closed for another one. */
  closed(): void {
    this.#closed += 1
    this.#look()
  }

  /** No connection can be closed for another one, or one can again. What lasts a moment only is not told. */
  full(isFull: boolean): void {
    if (isFull === (this.#fullSince !== undefined)) return
    this.#fullSince = isFull ? performance.now() : undefined
    this.#wasToldFull = false
    if (isFull) this.#look()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** What there is to tell is told as soon as it may be. */
  #look(): void {
    const fullAt = this.#wasToldFull ? undefined : this.#fullSince
    const due = this.#closed > 0 ? 0 : fullAt === undefined ? undefined : fullAt + FULL_TOLD_AFTER_MS
    clearTimeout(this.#timer)
    if (due === undefined) return
    const at = Math.max(due, this.#toldAt + PRESSURE_INTERVAL_MS)
    this.#timer = setTimeout(() => this.#now(), Math.max(0, at - performance.now()))
  }

  #now(): void {
    const now = performance.now()
    const isFull = this.#fullSince !== undefined && now - this.#fullSince >= FULL_TOLD_AFTER_MS
    const closed = this.#closed
    if (closed > 0 || isFull) {
      this.#toldAt = now
      this.#wasToldFull = isFull
      this.#closed = 0
      this.#tell(closed, isFull)
    }
    this.#look()
  }
}
