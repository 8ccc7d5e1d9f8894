// Limits the rates of many callers in constant memory: the generic cell rate algorithm (ITU-T I.371), one number per slot.

/** Units per minute, and in a burst after idle time. */
export interface Rate {
  perMinute: number
  burst: number
}

/**
 * The slots of a limiter for networks, at 8 bytes each. Networks share them by hash, so a flood of addresses takes no
 * more memory.
 */
export const NETWORK_SLOTS = 65_536

const MINUTE_MS = 60_000

/** Limits the rates of many callers, each by its slot; callers that share a slot share its rate. */
export class GcraLimiter {
  readonly #unitMs: number
  readonly #burstMs: number
  /** The time at which each slot is full again, in milliseconds of the caller's clock: the "theoretical arrival time". */
  readonly #fullAt: Float64Array

  constructor(slots: number, { perMinute, burst }: Rate) {
    this.#unitMs = MINUTE_MS / perMinute
    this.#burstMs = burst * this.#unitMs
    this.#fullAt = new Float64Array(slots)
  }

  /** Returns the milliseconds from `now` until `slot` can spend `units`; 0 when it can now. */
  waitMs(slot: number, units: number, now: number): number {
    return Math.max(0, this.#debt(slot, now) + units * this.#unitMs - this.#burstMs)
  }

  spend(slot: number, units: number, now: number): void {
    this.#fullAt[slot] = now + this.#debt(slot, now) + units * this.#unitMs
  }

  /** Returns units, but never beyond the burst. */
  refund(slot: number, units: number, now: number): void {
    this.#fullAt[slot] = now + Math.max(0, this.#debt(slot, now) - units * this.#unitMs)
  }

  /** Time until the spent units are available again, in milliseconds. */
  #debt(slot: number, now: number): number {
    return Math.max(0, (this.#fullAt[slot] ?? 0) - now)
  }
}
