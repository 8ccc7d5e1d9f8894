// Compresses a chain for the visitors who support that (RFC 8879), when the first of them comes: many sites wait long for one.

import type { CompressedCertificates } from '@svc/tls'

const NONE: CompressedCertificates = new Map()

export class ChainCompression {
  readonly #chain: readonly Uint8Array[]
  #forms: CompressedCertificates | undefined

  /** @param chain DER, leaf first */
  constructor(chain: readonly Uint8Array[]) {
    this.#chain = chain
  }

  /** None for the first visitor, who need not wait for the compression, nor for its code. */
  get forms(): CompressedCertificates {
    if (!this.#forms) {
      this.#forms = NONE
      this.#compress()
    }
    return this.#forms
  }

  /** Where the code cannot be loaded, as in a service worker, all visitors get the chain as it is. */
  async #compress(): Promise<void> {
    try {
      const late = await import('./lazy.ts')
      this.#forms = await late.compressCertificates(this.#chain)
    } catch {}
  }
}
