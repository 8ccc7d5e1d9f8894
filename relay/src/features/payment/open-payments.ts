// Bounds the payment requests of one network in progress at once, so that nobody takes all places of the facilitator.

import { RelayError } from '../../core/errors.ts'
import { NetworkCounts } from '../../core/rate-limit/fair-share.ts'

/** Payment requests in progress at once: as many as the facilitator handles. */
const PAYMENT_REQUESTS_AT_ONCE = 128
/** The same for one network. */
const PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK = 32

export class OpenPayments {
  readonly #perNetwork = new NetworkCounts()
  #open = 0

  /** Begins a request. @returns a function that ends it. @throws RelayError `rate_limited` */
  begin(network: string): () => void {
    const isBelow = this.#perNetwork.of(network) < PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK
    if (
      !isBelow ||
      !this.#perNetwork.mayHave(1, network, PAYMENT_REQUESTS_AT_ONCE - this.#open, PAYMENT_REQUESTS_AT_ONCE)
    )
      throw new RelayError('rate_limited', 'too many payments at once', { 'Retry-After': '1' })
    this.#count(network, 1)
    return () => this.#count(network, -1)
  }

  #count(network: string, change: 1 | -1): void {
    this.#open += change
    this.#perNetwork.add(network, change)
  }
}
