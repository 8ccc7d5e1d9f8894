// Tracks the relay's time from its answers, by a monotonic clock: a wrong clock of this machine does no harm.

export class RelayClock {
  /** The relay's time minus `performance.now()`, in milliseconds. Undefined before the first answer that has a date. */
  #aheadMs: number | undefined
  #showsDates = false

  /** The relay's time, in milliseconds since the epoch; this machine's while the relay's is unknown. */
  get now(): number {
    return this.#aheadMs === undefined ? Date.now() : this.#aheadMs + performance.now()
  }

  /**
   * Sets the time from an answer.
   * @param date the `Date` field of an answer that has just come (RFC 9110 §6.6.1); CORS may hide it from a page
   */
  dated(date: string | null): void {
    const ms = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(ms)) return
    this.#showsDates = true
    this.#set(ms)
  }

  /** Sets the time from a lease that the relay has just granted, for a relay whose `Date` a page cannot read. */
  granted(now: number): void {
    if (!this.#showsDates) this.#set(now)
  }

  #set(now: number): void {
    this.#aheadMs = now - performance.now()
  }
}
