// Counts the responses of an address to datagrams that were sent to it: they show that datagrams arrive there.

import { RESPONSE_DELAY_MIN_MS, VALIDATION_EXPIRY_MS } from './limits.ts'

export class AddressValidation {
  #responseCount = 0
  #lastReceivedAt = Number.NEGATIVE_INFINITY
  /** When the first datagram without a response was sent. */
  #unansweredSince: number | undefined

  /** Records a datagram from the address. @param now milliseconds of the caller's clock, as in all methods */
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

  /** Records a datagram to the address. */
  onSent(now: number): void {
    this.#unansweredSince ??= now
  }

  /** Number of responses; 0 once the address has been silent for {@link VALIDATION_EXPIRY_MS}. */
  responses(now: number): number {
    return now - this.#lastReceivedAt <= VALIDATION_EXPIRY_MS ? this.#responseCount : 0
  }
}
