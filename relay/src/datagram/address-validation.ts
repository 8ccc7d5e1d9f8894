// Whether what is sent to an address arrives there: a datagram that comes from it afterwards is an answer, and counts.

import { RESPONSE_DELAY_MIN_MS, VALIDATION_EXPIRY_MS } from './limits.ts'

export class AddressValidation {
  #responseCount = 0
  #lastReceivedAt = Number.NEGATIVE_INFINITY
  /** When the first of those was sent that have no answer yet. */
  #unansweredSince: number | undefined

  /** A datagram came from there. @param now in milliseconds of the caller's clock, here as below */
  onReceived(now: number): void {
    if (now - this.#lastReceivedAt > VALIDATION_EXPIRY_MS) {
      this.#responseCount = 0
      this.#unansweredSince = undefined
    }
    this.#lastReceivedAt = now
    if (this.#unansweredSince === undefined || now - this.#unansweredSince < RESPONSE_DELAY_MIN_MS) return
    this.#responseCount += 1
    this.#unansweredSince = undefined
  }

  /** A datagram was sent there. */
  onSent(now: number): void {
    this.#unansweredSince ??= now
  }

  /** How many came, as long as it has not been silent since. */
  responses(now: number): number {
    return now - this.#lastReceivedAt <= VALIDATION_EXPIRY_MS ? this.#responseCount : 0
  }
}
