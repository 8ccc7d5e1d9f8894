// Compresses a chain for the visitors who support that (RFC 8879), when the first of them comes: many sites wait long for one.

import { type CompressedCertificates, compressCertificates } from '@svc/tls'

const NONE: CompressedCertificates = new Map()

export class ChainCompression {
  readonly #chain: readonly Uint8Array[]
  #forms: CompressedCertificates | undefined

  /** @param chain DER, leaf first */
  constructor(chain: readonly Uint8Array[]) {
    this.#chain = chain
  }

  /** None for the first visitor, who need not wait for the compression. */
  get forms(): CompressedCertificates {
    if (this.#forms) return this.#forms
    this.#forms = NONE
    compressCertificates(this.#chain).then(
      (forms) => {
        this.#forms = forms
      },
      () => {},
    )
    return NONE
  }
}
