// A token bucket for rate limiting. It refills with time, and with useful work.

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

  /** @returns whether a token was left */
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
