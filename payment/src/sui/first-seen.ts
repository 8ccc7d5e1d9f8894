// The time at which each payment was first seen: the chain keeps transactions valid for days, so the facilitator enforces a shorter time.

import { MAX_REMEMBERED } from '../limits.ts'
import { Refusal } from './refusal.ts'

/** FirstSeen forgets the oldest payments when there are too many. */
export class FirstSeen {
  /** Milliseconds since 1970, by digest. */
  readonly #seen = new Map<string, number>()

  /** @throws Refusal for a payment that was first seen more than `withinMs` ago */
  check(digest: string, withinMs: number, now: number): void {
    const first = this.#seen.get(digest)
    if (first !== undefined && now - first > withinMs)
      throw new Refusal(
        'invalid_exact_sui_payload_expired',
        `the payment was first sent more than ${withinMs / 1_000} s ago`,
      )
  }

  /** Stores the earliest time of a payment. */
  remember(digest: string, now: number): void {
    if (this.#seen.has(digest)) return
    this.#seen.set(digest, now)
    if (this.#seen.size <= MAX_REMEMBERED) return
    const [oldest] = this.#seen.keys()
    this.#seen.delete(oldest!)
  }
}
