// How much of what costs the visitor nothing it may do: it grows back with time and with work that was worth it.

export class Allowance {
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
  spend(): boolean {
    const now = performance.now()
    this.earn((now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  earn(count: number): void {
    this.#left = Math.min(this.#burst, this.#left + count)
  }
}
