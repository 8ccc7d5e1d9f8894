// Rates of many callers in constant memory: the generic cell rate algorithm (ITU-T I.371) with one number a slot.

/** What may be spent: so much a minute, and so much at once when none was spent for a while. */
export interface Rate {
  perMinute: number
  burst: number
}

const MINUTE_MS = 60_000

export class GcraLimiter {
  readonly #unitMs: number
  readonly #burstMs: number
  /** When each slot has all its units again, in milliseconds of the caller's clock: its "theoretical arrival time". */
  readonly #fullAt: Float64Array

  constructor(slots: number, { perMinute, burst }: Rate) {
    this.#unitMs = MINUTE_MS / perMinute
    this.#burstMs = burst * this.#unitMs
    this.#fullAt = new Float64Array(slots)
  }

  /** Milliseconds from `now` until `slot` can spend `units`; 0: it can. */
  waitMs(slot: number, units: number, now: number): number {
    return Math.max(0, this.#debt(slot, now) + units * this.#unitMs - this.#burstMs)
  }

  spend(slot: number, units: number, now: number): void {
    this.#fullAt[slot] = now + this.#debt(slot, now) + units * this.#unitMs
  }

  /** Never beyond the burst. */
  refund(slot: number, units: number, now: number): void {
    this.#fullAt[slot] = now + Math.max(0, this.#debt(slot, now) - units * this.#unitMs)
  }

  /** What was spent and has not come back yet, as time. */
  #debt(slot: number, now: number): number {
    return Math.max(0, (this.#fullAt[slot] ?? 0) - now)
  }
}
