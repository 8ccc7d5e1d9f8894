// The relay's clock as its answers tell it, kept by a clock that nobody can set: a wrong one here changes nothing.

export class RelayClock {
  /** The relay's time minus `performance.now()`, in milliseconds; undefined until an answer has told. */
  #aheadMs: number | undefined
  #showsDates = false

  /** The relay's time, in milliseconds since the epoch; this machine's while the relay's is not known. */
  get now(): number {
    return this.#aheadMs === undefined ? Date.now() : this.#aheadMs + performance.now()
  }

  /** @param date the `Date` field of an answer that has just come (RFC 9110 §6.6.1); CORS may hide it from a page */
  dated(date: string | null): void {
    const ms = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(ms)) return
    this.#showsDates = true
    this.#set(ms)
  }

  /** The relay's time as a lease tells it that was granted just now: for a relay that shows a page no dates. */
  granted(now: number): void {
    if (!this.#showsDates) this.#set(now)
  }

  #set(now: number): void {
    this.#aheadMs = now - performance.now()
  }
}
