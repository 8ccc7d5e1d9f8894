// Reports, at most once a second, that connections were closed for others or that none could be.

/** The shortest interval between reports that the SDK closed connections for others, or could close none. */
export const PRESSURE_INTERVAL_MS = 1_000
/** The SDK reports a full site when it has been full for this long. */
export const FULL_TOLD_AFTER_MS = 500

export class PressureReporter {
  readonly #tell: (closedForOthers: number, isFull: boolean) => void
  /** The number of connections closed since the last report. */
  #closed = 0
  /** The time at which the site became full, by `performance.now()`. Undefined while there is room. */
  #fullSince: number | undefined
  #wasToldFull = false
  #toldAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param tell called at most once a second, and never within a call of `closed` or `full` */
  constructor(tell: (closedForOthers: number, isFull: boolean) => void) {
    this.#tell = tell
  }

  /** Counts a connection that was closed for another one. */
  closed(): void {
    this.#closed += 1
    this.#look()
  }

  /**
   * Notes whether the site is full: no connection can be closed for another one. A short time is not
   * reported.
   */
  full(isFull: boolean): void {
    if (isFull === (this.#fullSince !== undefined)) return
    this.#fullSince = isFull ? performance.now() : undefined
    this.#wasToldFull = false
    if (isFull) this.#look()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Schedules a report as soon as the interval allows. */
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
