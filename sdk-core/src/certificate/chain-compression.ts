// Compresses a chain for the visitors who support that (RFC 8879), when the first of them comes: many sites wait long for one.

import type { CompressedCertificates, compressCertificates } from '@svc/tls'

const NONE: CompressedCertificates = new Map()

export class ChainCompression {
  readonly #chain: readonly Uint8Array[]
  readonly #compressChain: typeof compressCertificates
  #forms: CompressedCertificates | undefined

  /**
   * @param chain DER, leaf first
   * @param compress rejects where its code cannot be loaded, as in a service worker
   */
  constructor(chain: readonly Uint8Array[], compress: typeof compressCertificates) {
    this.#chain = chain
    this.#compressChain = compress
  }

  /** None for the first visitor, who need not wait for the compression, nor for its code. */
  get forms(): CompressedCertificates {
    if (!this.#forms) {
      this.#forms = NONE
      this.#compress()
    }
    return this.#forms
  }

  /** Where the code cannot be loaded, all visitors get the chain as it is. */
  async #compress(): Promise<void> {
    try {
      this.#forms = await this.#compressChain(this.#chain)
    } catch {}
  }
}
