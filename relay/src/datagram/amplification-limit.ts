// What may be sent to one address: three times what came from it, and more once it has shown that what is sent there arrives.

import { AddressValidation } from './address-validation.ts'
import {
  AMPLIFICATION_MAX,
  ANSWERS_NEEDED,
  ANSWERS_OF_HOST_NEEDED,
  OWED_MAX_BYTES,
  REPLIES_PER_DATAGRAM,
  REPLIES_SAVED_MAX,
  REPLY_BYTES_PER_DATAGRAM,
  REPLY_CREDIT_MAX_BYTES,
  REPLY_FACTOR,
} from './limits.ts'

export class AmplificationLimit {
  readonly #answers = new AddressValidation()
  readonly #ofHost: AddressValidation
  readonly #takeShare: (bytes: number) => boolean
  /** Bytes: three for each that came. */
  #owed = 0
  /** Bytes beyond those, of an address that has answered. */
  #saved = 0
  /** Datagrams, so that empty ones are bounded, too. */
  #datagrams = 0

  /**
   * @param ofHost answers from all ports of the address: a client that asks each question from another port has no other
   * @param takeShare asked for what is sent beyond three times what came; false: the address's network has had its share
   */
  constructor(ofHost: AddressValidation, takeShare: (bytes: number) => boolean) {
    this.#ofHost = ofHost
    this.#takeShare = takeShare
  }

  /** A datagram of so many bytes came from the address. @param now in milliseconds of one clock */
  heard(bytes: number, now: number): void {
    this.#answers.heard(now)
    this.#ofHost.heard(now)
    const hasAnswered = this.#hasAnswered(now)
    const datagrams = hasAnswered ? REPLIES_PER_DATAGRAM : AMPLIFICATION_MAX
    const more = Math.min(REPLY_FACTOR * bytes, REPLY_BYTES_PER_DATAGRAM)
    this.#owed = Math.min(this.#owed + AMPLIFICATION_MAX * bytes, OWED_MAX_BYTES)
    this.#datagrams = Math.min(this.#datagrams + datagrams, REPLIES_SAVED_MAX)
    this.#saved = hasAnswered ? Math.min(this.#saved + more, REPLY_CREDIT_MAX_BYTES) : 0
  }

  /** @returns false when a datagram of so many bytes may not be sent there; nothing is spent then */
  spend(bytes: number, now: number): boolean {
    if (this.#datagrams < 1) return false
    const beyond = Math.max(0, bytes - this.#owed)
    if (beyond > 0) {
      if (beyond > this.#saved || !this.#hasAnswered(now) || !this.#takeShare(beyond)) return false
      this.#saved -= beyond
    }
    this.#owed -= bytes - beyond
    this.#datagrams -= 1
    this.#answers.sent(now)
    this.#ofHost.sent(now)
    return true
  }

  #hasAnswered(now: number): boolean {
    return this.#answers.count(now) >= ANSWERS_NEEDED || this.#ofHost.count(now) >= ANSWERS_OF_HOST_NEEDED
  }
}
