// Limits what the relay sends to one address: three times what came from it, and more once its responses validate it.

import { AddressValidation } from './address-validation.ts'
import {
  AMPLIFICATION_MAX,
  CREDIT_MAX_DATAGRAMS,
  HOST_VALIDATION_RESPONSES,
  UNVALIDATED_CREDIT_MAX_BYTES,
  VALIDATED_AMPLIFICATION_MAX,
  VALIDATED_CREDIT_MAX_BYTES,
  VALIDATED_CREDIT_PER_DATAGRAM_BYTES,
  VALIDATED_DATAGRAMS_PER_DATAGRAM,
  VALIDATION_RESPONSES,
} from './limits.ts'

export class AmplificationLimit {
  readonly #validation = new AddressValidation()
  readonly #hostValidation: AddressValidation
  readonly #spendNetworkShare: (bytes: number) => boolean
  /** Bytes that the relay may send to any address: three for each that came from it. */
  #unvalidatedCredit = 0
  /** Further bytes that the relay may send to a validated address. */
  #validatedCredit = 0
  /** Datagrams that the relay may send to the address; this bounds empty ones, too. */
  #datagrams = 0

  /**
   * @param hostValidation responses from all ports of the IP address, for clients that send from a new port each time
   * @param spendNetworkShare called with the bytes beyond three times those received; returns false when the network
   *   has used up its share
   */
  constructor(hostValidation: AddressValidation, spendNetworkShare: (bytes: number) => boolean) {
    this.#hostValidation = hostValidation
    this.#spendNetworkShare = spendNetworkShare
  }

  /** Records a datagram of `bytes` from the address. @param now milliseconds of one clock */
  onReceived(bytes: number, now: number): void {
    this.#validation.onReceived(now)
    this.#hostValidation.onReceived(now)
    const isValidated = this.#isValidated(now)
    const datagrams = isValidated ? VALIDATED_DATAGRAMS_PER_DATAGRAM : AMPLIFICATION_MAX
    const earned = Math.min(VALIDATED_AMPLIFICATION_MAX * bytes, VALIDATED_CREDIT_PER_DATAGRAM_BYTES)
    this.#unvalidatedCredit = Math.min(
      this.#unvalidatedCredit + AMPLIFICATION_MAX * bytes,
      UNVALIDATED_CREDIT_MAX_BYTES,
    )
    this.#datagrams = Math.min(this.#datagrams + datagrams, CREDIT_MAX_DATAGRAMS)
    this.#validatedCredit = isValidated
      ? Math.min(this.#validatedCredit + earned, VALIDATED_CREDIT_MAX_BYTES)
      : 0
  }

  /** Spends the credit for one datagram. @returns false, and spends nothing, when it may not be sent */
  spend(bytes: number, now: number): boolean {
    if (this.#datagrams < 1) return false
    const excess = Math.max(0, bytes - this.#unvalidatedCredit)
    if (excess > 0) {
      if (excess > this.#validatedCredit || !this.#isValidated(now) || !this.#spendNetworkShare(excess))
        return false
      this.#validatedCredit -= excess
    }
    this.#unvalidatedCredit -= bytes - excess
    this.#datagrams -= 1
    this.#validation.onSent(now)
    this.#hostValidation.onSent(now)
    return true
  }

  #isValidated(now: number): boolean {
    return (
      this.#validation.responses(now) >= VALIDATION_RESPONSES ||
      this.#hostValidation.responses(now) >= HOST_VALIDATION_RESPONSES
    )
  }
}
