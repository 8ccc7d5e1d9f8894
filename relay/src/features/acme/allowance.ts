// A token bucket (ITU-T I.371): units may be spent at a steady rate and, after a pause, in a burst.

import { now } from '../../core/clock.ts'

/** Units of an allowance. */
interface AllowanceRate {
  /** Units that come back in a period. */
  units: number
  /** Milliseconds. */
  periodMs: number
  /** Units that may be spent at once, at least 1. */
  burst: number
}

export class Allowance {
  readonly #unitMs: number
  readonly #burst: number
  /** Relay time at which all units have come back. */
  #fullAt = 0

  /** @param spent units that are already spent */
  constructor({ units, periodMs, burst }: AllowanceRate, spent = 0) {
    this.#unitMs = periodMs / units
    this.#burst = Math.max(1, burst)
    this.#fullAt = now() + Math.min(Math.max(0, spent), this.#burst) * this.#unitMs
  }

  /** Units that are spent and have not come back. */
  get spent(): number {
    return this.#debtMs() / this.#unitMs
  }

  /**
   * Milliseconds until one unit can be spent with `kept` units left for others; 0 when it can now, infinite when that
   * is never possible.
   */
  waitMs(kept = 0): number {
    if (kept + 1 > this.#burst) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#debtMs() + (kept + 1 - this.#burst) * this.#unitMs)
  }

  spend(): void {
    this.#fullAt = now() + this.#debtMs() + this.#unitMs
  }

  refund(): void {
    this.#fullAt = now() + Math.max(0, this.#debtMs() - this.#unitMs)
  }

  #debtMs(): number {
    return Math.max(0, this.#fullAt - now())
  }
}
