// Whether what is sent to an address arrives there: a datagram that comes from it afterwards is an answer, and counts.

import { ANSWER_AFTER_MS, ANSWERED_MS } from './limits.ts'

export class AddressValidation {
  #count = 0
  #heardAt = Number.NEGATIVE_INFINITY
  /** When the first of those was sent that have no answer yet. */
  #sentAt: number | undefined

  /** A datagram came from there. @param now in milliseconds of the caller's clock, here as below */
  heard(now: number): void {
    if (now - this.#heardAt > ANSWERED_MS) {
      this.#count = 0
      this.#sentAt = undefined
    }
    this.#heardAt = now
    if (this.#sentAt === undefined || now - this.#sentAt < ANSWER_AFTER_MS) return
    this.#count += 1
    this.#sentAt = undefined
  }

  /** A datagram was sent there. */
  sent(now: number): void {
    this.#sentAt ??= now
  }

  /** How many came, as long as it has not been silent since. */
  count(now: number): number {
    return now - this.#heardAt <= ANSWERED_MS ? this.#count : 0
  }
}
