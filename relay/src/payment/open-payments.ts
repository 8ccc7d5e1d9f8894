// Bounds the payment requests of one network that are answered at once, so that nobody takes all places of the facilitator.

import { RelayError } from '../errors.ts'
import { PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK } from '../limits.ts'

export class OpenPayments {
  /** By network; none is 0. */
  readonly #open = new Map<string, number>()

  /** @returns ends the request. @throws RelayError `rate_limited` */
  begin(network: string): () => void {
    const open = this.#open.get(network) ?? 0
    if (open >= PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK)
      throw new RelayError('rate_limited', 'too many payments at once', { 'Retry-After': '1' })
    this.#open.set(network, open + 1)
    return () => {
      const left = (this.#open.get(network) ?? 1) - 1
      if (left === 0) this.#open.delete(network)
      else this.#open.set(network, left)
    }
  }
}
