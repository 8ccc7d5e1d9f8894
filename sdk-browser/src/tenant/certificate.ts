// The relay's tenant certificate chain as this site presents it, kept up with the relay's own rotation.

import type { SignAlgorithm } from '@svc/protocol'
import { signAlgorithmOf, subjectNamesOf } from '@svc/tls'
import { fetchCertificateChain } from '../control/certificate-chain.ts'
import type { RelayClient } from '../control/client.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { CHAIN_MAX_AGE_MS, CHAIN_REFRESH_MIN_MS } from '../limits.ts'

interface TenantCertificate {
  /** DER, leaf first. */
  chain: Uint8Array[]
  /** The one that the leaf's key can sign with. */
  algorithm: SignAlgorithm
  /** Of hosts, as the leaf has them. */
  names: string[]
}

export class CertificateSource {
  #client: RelayClient
  #keeper: LeaseKeeper
  #onError: (error: SvcError) => void
  #current: TenantCertificate | undefined
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(client: RelayClient, keeper: LeaseKeeper, onError: (error: SvcError) => void) {
    this.#client = client
    this.#keeper = keeper
    this.#onError = onError
  }

  /** Loaded before the first visitor comes. */
  get current(): TenantCertificate {
    return this.#current!
  }

  /** No other tenant of the relay, nor the relay, is named by the certificate. */
  get isOwn(): boolean {
    const { names } = this.current
    return names.length > 0 && names.every((name) => this.#hostnames.includes(name))
  }

  /**
   * Waits for a chain that serves the lease's hostnames. A relay that was away may have been given a new one: that comes
   * while visitors do.
   */
  async ensure(signal: AbortSignal): Promise<void> {
    if (this.#current && this.#covers(this.#current)) this.#refreshAfter(CHAIN_REFRESH_MIN_MS)
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
    const { lease } = this.#keeper
    if (!lease) return
    const chain = await fetchCertificateChain(this.#client, lease.accessToken, signal)
    const [leaf] = chain
    this.#current = { chain, algorithm: signAlgorithmOf(leaf!), names: subjectNamesOf(leaf!) }
  }

  /** One label may be a wildcard's (RFC 9525 §6.3). */
  #covers({ names }: TenantCertificate): boolean {
    return this.#hostnames.every(
      (host) => names.includes(host) || names.includes(host.replace(/^[^.]*/, '*')),
    )
  }

  get #hostnames(): string[] {
    const { lease } = this.#keeper
    return lease ? [lease.hostname, lease.canonicalHostname].filter((host) => host !== '') : []
  }
}
