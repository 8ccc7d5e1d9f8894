// A token bucket for what costs the visitor nothing: it fills with time, and with work that was worth it.

export class TokenBucket {
  readonly #burst: number
  readonly #perMs: number
  #left: number
  #at: number = performance.now()

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perMs = perSecond / 1000
    this.#left = burst
  }

  /** @returns whether there was one left */
  take(): boolean {
    const now = performance.now()
    this.refill((now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  refill(count: number): void {
    this.#left = Math.min(this.#burst, this.#left + count)
  }
}
