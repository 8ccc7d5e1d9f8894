// The relay's tenant certificate chain as this site presents it, kept up with the relay's own rotation.

import type { SignAlgorithm } from '@svc/protocol'
import { type CompressedCertificates, compressCertificates, signAlgorithmOf, subjectNamesOf } from '@svc/tls'
import { fetchCertificateChain } from '../control/certificate-chain.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { CHAIN_MAX_AGE_MS, CHAIN_REFRESH_MIN_MS } from '../limits.ts'

interface TenantCertificate {
  /** DER, leaf first. */
  chain: Uint8Array[]
  /** The same for visitors that take it compressed (RFC 8879); empty until that is done. */
  compressed: CompressedCertificates
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
  /** By `performance.now()`. */
  #triedAt = Number.NEGATIVE_INFINITY
  /** When the relay was last asked in vain, by `performance.now()`: what it gave was in use already, or nothing came. */
  #inVainAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined

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

  /**
   * In the background and at once: the relay refused to sign for `chain`, perhaps because that is not its own any more. Where
   * asking has just shown that it is, the refusal had another reason.
   */
  refreshAfterRefusal(chain: readonly Uint8Array[]): void {
    if (chain !== this.#current?.chain) return
    if (performance.now() - this.#inVainAt >= CHAIN_REFRESH_MIN_MS) this.#refresh()
  }

  #refreshAfter(ms: number): void {
    if (performance.now() - this.#triedAt >= ms) this.#refresh()
  }

  #refresh(): void {
    this.#refreshing ??= this.#load()
      .catch((error) => {
        this.#inVainAt = performance.now()
        this.#onError(asSvcError(error, 'unexpected_answer', 'the certificate chain could not be refreshed'))
      })
      .finally(() => {
        this.#refreshing = undefined
      })
  }

  async #load(signal?: AbortSignal): Promise<void> {
    this.#triedAt = performance.now()
    const { lease } = this.#keeper
    if (!lease) return
    const chain = await fetchCertificateChain(this.#client, lease.accessToken, signal)
    if (this.#current && isSame(chain, this.#current.chain)) {
      this.#inVainAt = performance.now()
      return
    }
    const [leaf] = chain
    const [algorithm, names] = [signAlgorithmOf(leaf!), subjectNamesOf(leaf!)]
    const current: TenantCertificate = { chain, compressed: new Map(), algorithm, names }
    this.#current = current
    // Visitors need not wait for it.
    compressCertificates(chain).then(
      (compressed) => {
        current.compressed = compressed
      },
      () => {},
    )
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

function isSame(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  return one.length === other.length && one.every((der, i) => der.join() === other[i]!.join())
}
