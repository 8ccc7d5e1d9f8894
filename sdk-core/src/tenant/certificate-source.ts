// Keeps the certificate chain that this site presents up to date with the relay's rotation.

import type { SignAlgorithm } from '@svc/protocol'
import { type CompressedCertificates, compressCertificates, signAlgorithmOf, subjectNamesOf } from '@svc/tls'
import { fetchCertificateChain } from '../control/certificate-chain.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { asSvcError, type SvcError } from '../errors.ts'
import { CHAIN_MAX_AGE_MS, CHAIN_REFRESH_MIN_MS } from '../limits.ts'

interface TenantCertificate {
  /** The certificates as DER, leaf first. */
  chain: Uint8Array[]
  /** The chain compressed, for visitors that support it (RFC 8879). Empty until the compression is done. */
  compressed: CompressedCertificates
  /** The signature algorithm of the leaf's key. */
  algorithm: SignAlgorithm
  /** The hostnames in the leaf. */
  names: string[]
}

export class CertificateSource {
  #client: RelayClient
  #keeper: LeaseKeeper
  #onError: (error: SvcError) => void
  #current: TenantCertificate | undefined
  /** The time of the last fetch, by `performance.now()`. */
  #triedAt = Number.NEGATIVE_INFINITY
  /** The time of the last fetch that brought no new chain, by `performance.now()`. */
  #inVainAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined

  constructor(client: RelayClient, keeper: LeaseKeeper, onError: (error: SvcError) => void) {
    this.#client = client
    this.#keeper = keeper
    this.#onError = onError
  }

  /** The current certificate. ensure() loads it before the first visitor comes. */
  get current(): TenantCertificate {
    return this.#current!
  }

  /** True when the certificate names this site's hostnames only, and neither another tenant nor the relay. */
  get isOwn(): boolean {
    const { names } = this.current
    return names.length > 0 && names.every((name) => this.#hostnames.includes(name))
  }

  /**
   * Waits for a chain that serves the lease's hostnames. When it has one, it fetches the relay's newer one in the
   * background, while visitors come.
   * @throws SvcError
   */
  async ensure(signal: AbortSignal): Promise<void> {
    if (this.#current && this.#covers(this.#current)) this.#refreshAfter(CHAIN_REFRESH_MIN_MS)
    else await this.#load(signal)
  }

  /** Fetches the chain in the background when the last fetch is long ago: the relay may have a new certificate. */
  refreshWhenOld(): void {
    this.#refreshAfter(CHAIN_MAX_AGE_MS)
  }

  /**
   * Fetches the chain in the background at once: the relay refused to sign for `chain`, perhaps because it has another
   * one. When a recent fetch has shown that it has not, the refusal had another reason.
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
    // Visitors need not wait for the compression.
    compressCertificates(chain).then(
      (compressed) => {
        current.compressed = compressed
      },
      () => {},
    )
  }

  /** Says whether the certificate covers the lease's hostnames. A wildcard stands for one label (RFC 9525 §6.3). */
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
