// A deadline that is cheap to move: one timer checks when it fires whether the deadline has moved.

export class Deadline {
  readonly #expire: () => void
  #until = Number.POSITIVE_INFINITY
  #firesAt = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(expire: () => void) {
    this.#expire = expire
  }

  /**
   * Replaces the deadline.
   * @param until a time of `performance.now()`
   */
  set(until: number): void {
    this.#until = until
    if (until < this.#firesAt) this.#arm()
  }

  /** Clears the deadline but keeps the timer for the next one. */
  clear(): void {
    this.#until = Number.POSITIVE_INFINITY
  }

  /** Clears the deadline and the timer. */
  close(): void {
    this.clear()
    clearTimeout(this.#timer)
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #arm(): void {
    clearTimeout(this.#timer)
    this.#firesAt = this.#until
    this.#timer = setTimeout(() => this.#fired(), Math.max(0, this.#until - performance.now()))
  }

  #fired(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    if (this.#until === Number.POSITIVE_INFINITY) return
    if (performance.now() < this.#until) {
      this.#arm()
      return
    }
    this.clear()
    this.#expire()
  }
}
