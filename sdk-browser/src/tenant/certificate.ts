// The relay's tenant certificate chain as this site presents it, kept up with the relay's own rotation.

import type { SignAlgorithm } from '@svc/protocol'
import { signAlgorithmOf } from '@svc/tls'
import { fetchCertificateChain } from '../control/certificate-chain.ts'
import type { RelayClient } from '../control/client.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { CHAIN_MAX_AGE_MS, CHAIN_REFRESH_MIN_MS } from '../limits.ts'

interface TenantCertificate {
  /** DER, leaf first. */
  chain: Uint8Array[]
  /** The one that the leaf's key can sign with. */
  algorithm: SignAlgorithm
}

export class CertificateSource {
  #client: RelayClient
  #onError: (error: SvcError) => void
  #current: TenantCertificate | undefined
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(client: RelayClient, onError: (error: SvcError) => void) {
    this.#client = client
    this.#onError = onError
  }

  /** Loaded before the first visitor comes. */
  get current(): TenantCertificate {
    return this.#current!
  }

  /** Waits for the first chain only: a later one can come while visitors do. */
  async ensure(signal: AbortSignal): Promise<void> {
    if (this.#current) this.refreshWhenOld()
    else await this.#load(signal)
  }

  /** In the background, now and then: the relay may have a new certificate. */
  refreshWhenOld(): void {
    this.#refreshAfter(CHAIN_MAX_AGE_MS)
  }

  /** In the background: the relay refused to sign, perhaps because this chain is not its own any more. */
  refreshAfterRefusal(): void {
    this.#refreshAfter(CHAIN_REFRESH_MIN_MS)
  }

  #refreshAfter(ms: number): void {
    if (Date.now() - this.#triedAt < ms) return
    this.#load().catch((error) =>
      this.#onError(asSvcError(error, 'unexpected_answer', 'the certificate chain could not be refreshed')),
    )
  }

  async #load(signal?: AbortSignal): Promise<void> {
    this.#triedAt = Date.now()
    const chain = await fetchCertificateChain(this.#client, signal)
    this.#current = { chain, algorithm: signAlgorithmOf(chain[0]!) }
  }
}
