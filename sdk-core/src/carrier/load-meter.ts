// Measures whether a WebSocket is the bottleneck of its streams: its buffer stays full, or its round trips grow.

/** The SDK measures sending and round trips for this long before it calls a connection saturated. */
export const LOAD_WINDOW_MS = 1_000
/** A connection is saturated when its buffer was full for this share of {@link LOAD_WINDOW_MS}. */
const LOAD_FULL_SHARE = 0.5
/**
 * A round trip is slow when it takes this many times the shortest one, and at least {@link LOAD_RTT_MIN_MS}.
 */
export const LOAD_RTT_FACTOR = 4
/** A round trip shorter than this is never slow: the page's own work may have delayed it. */
export const LOAD_RTT_MIN_MS = 200

export class LoadMeter {
  #windowFrom = performance.now()
  #fullFrom: number | undefined
  #fullMs = 0
  #leastRtt = Number.POSITIVE_INFINITY
  #wasSlow = false
  #saturated = false

  /** True when the last measured window showed saturation. */
  get saturated(): boolean {
    return this.#saturated
  }

  /** Called when sending has to wait. */
  bufferFull(): void {
    this.#fullFrom ??= performance.now()
  }

  /** Called when sending may go on. */
  bufferDrained(): void {
    this.#fullMs += this.#sinceFull(performance.now())
    this.#fullFrom = undefined
  }

  /**
   * Ends the window when it was long enough. Only two slow round trips in a row count as saturation.
   * @param rtt the round trip in milliseconds
   * @returns whether a new window has begun
   */
  measure(rtt: number | undefined): boolean {
    const now = performance.now()
    const windowMs = now - this.#windowFrom
    if (windowMs < LOAD_WINDOW_MS) return false
    const fullMs = this.#fullMs + this.#sinceFull(now)
    const isSlow = rtt !== undefined && rtt > Math.max(LOAD_RTT_FACTOR * this.#leastRtt, LOAD_RTT_MIN_MS)
    this.#saturated = fullMs > LOAD_FULL_SHARE * windowMs || (isSlow && this.#wasSlow)
    if (rtt !== undefined) this.#leastRtt = Math.min(this.#leastRtt, rtt)
    this.#wasSlow = isSlow
    this.#fullMs = 0
    if (this.#fullFrom !== undefined) this.#fullFrom = now
    this.#windowFrom = now
    return true
  }

  #sinceFull(now: number): number {
    return this.#fullFrom === undefined ? 0 : now - this.#fullFrom
  }
}
