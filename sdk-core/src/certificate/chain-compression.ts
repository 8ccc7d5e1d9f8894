// Compresses a chain for visitors who support that (RFC 8879). It waits for the first of them, since many sites get none for long.

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

  /** Empty for the first visitor, who does not wait for the compression or its code. */
  get forms(): CompressedCertificates {
    if (!this.#forms) {
      this.#forms = NONE
      this.#compress()
    }
    return this.#forms
  }

  /** If the code cannot be loaded, all visitors get the chain uncompressed. */
  async #compress(): Promise<void> {
    try {
      this.#forms = await this.#compressChain(this.#chain)
    } catch {}
  }
}
