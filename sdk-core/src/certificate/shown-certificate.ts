// Chooses the certificate that this site presents: its own while that fits, otherwise the relay's, which it keeps up to date.

import { type compressCertificates, signAlgorithmOf, subjectNamesOf } from '@svc/tls'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import { hostnamesOf } from '../control/registration.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { asSvcError, SvcError } from '../errors.ts'
import { fetchCertificateChain } from './certificate-chain.ts'
import { ChainCompression } from './chain-compression.ts'
import type { KeylessCertificate, OwnCertificate, ServerCertificate } from './server-certificate.ts'

/** The SDK fetches the certificate chain again on the first renewal after this. */
export const CHAIN_MAX_AGE_MS: number = 60 * 60_000
/**
 * After a refused signature the SDK fetches the chain at once. When it is unchanged, further refusals cause no fetch
 * for this long.
 */
export const CHAIN_REFRESH_MIN_MS = 10_000

export class ShownCertificate {
  #client: RelayClient
  #keeper: LeaseKeeper
  #onError: (error: SvcError) => void
  #mustBeOwn: boolean | undefined
  #keyless: KeylessCertificate | undefined
  #own: OwnCertificate | undefined
  /** The time of the last fetch, by `performance.now()`. */
  #triedAt = Number.NEGATIVE_INFINITY
  /** The time of the last fetch that returned no new chain, by `performance.now()`. */
  #inVainAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined

  /** @param mustBeOwn the relay's certificate is never presented */
  constructor(
    client: RelayClient,
    keeper: LeaseKeeper,
    onError: (error: SvcError) => void,
    mustBeOwn?: boolean,
  ) {
    this.#client = client
    this.#keeper = keeper
    this.#onError = onError
    this.#mustBeOwn = mustBeOwn
  }

  /**
   * The certificate for the next visitor. ensure() loads the relay's before the first one comes. Undefined when the relay has
   * none for sites and the site has none of its own yet.
   */
  get current(): ServerCertificate | undefined {
    return this.#own && this.#fits(this.#own) ? this.#own : this.fallback
  }

  /** The relay's certificate, if the site may present it. */
  get fallback(): KeylessCertificate | undefined {
    return this.#mustBeOwn ? undefined : this.#keyless
  }

  /** The relay's certificate. Undefined when the relay has none for sites. */
  get keyless(): KeylessCertificate | undefined {
    return this.#keyless
  }

  /** Shows `own` to the next visitors, for as long as it is valid and the lease has its names. */
  use(own: OwnCertificate): void {
    this.#own = own
  }

  /**
   * Waits for a chain that covers the lease's hostnames, or for the answer that the relay has none. If there is one
   * already, it fetches a newer one in the background.
   * @throws SvcError
   */
  async ensure(signal: AbortSignal): Promise<void> {
    if (this.#keyless && this.#covers(this.#keyless)) this.#refreshAfter(CHAIN_REFRESH_MIN_MS)
    else await this.#load(signal)
  }

  /** Fetches the chain in the background when the last fetch was long ago: the relay may have a new certificate. */
  refreshWhenOld(): void {
    this.#refreshAfter(CHAIN_MAX_AGE_MS)
  }

  /**
   * Fetches the chain in the background at once: the relay refused to sign for `chain`, perhaps because it has another
   * one. If a recent fetch showed that it has not, the refusal had another reason.
   */
  refreshAfterRefusal(chain: readonly Uint8Array[]): void {
    if (chain !== this.#keyless?.chain) return
    if (performance.now() - this.#inVainAt >= CHAIN_REFRESH_MIN_MS) this.#refresh()
  }

  #refreshAfter(ms: number): void {
    if (performance.now() - this.#triedAt >= ms) this.#refresh()
  }

  #refresh(): void {
    this.#refreshing ??= this.#load()
      .catch((error) => {
        this.#inVainAt = performance.now()
        this.#onError(asSvcError(error, 'unexpected_answer', 'the chain could not be refreshed'))
      })
      .finally(() => {
        this.#refreshing = undefined
      })
  }

  async #load(signal?: AbortSignal): Promise<void> {
    this.#triedAt = performance.now()
    const { lease } = this.#keeper
    if (!lease) return
    const chain = await fetchCertificateChain(this.#client, lease.accessToken, signal).catch((error) => {
      if (error instanceof SvcError && error.code === 'feature_unavailable') return undefined
      throw error
    })
    if (chain === undefined) {
      this.#keyless = undefined
      return
    }
    if (this.#keyless && isSame(chain, this.#keyless.chain)) {
      this.#inVainAt = performance.now()
      return
    }
    const [leaf] = chain
    const [algorithm, names] = [signAlgorithmOf(leaf!), subjectNamesOf(leaf!)]
    const compression = new ChainCompression(chain, compress)
    this.#keyless = { chain, compression, algorithm, names }
  }

  #fits(certificate: OwnCertificate): boolean {
    const { now } = this.#client.clock
    const { notBefore, notAfter } = certificate.own
    return notBefore <= now && now < notAfter && this.#covers(certificate)
  }

  /** Returns whether the certificate covers the lease's hostnames. A wildcard matches one label (RFC 9525 §6.3). */
  #covers({ names }: ServerCertificate): boolean {
    return this.#hostnames.every(
      (host) => names.includes(host) || names.includes(host.replace(/^[^.]*/, '*')),
    )
  }

  get #hostnames(): string[] {
    const { lease } = this.#keeper
    return lease ? hostnamesOf(lease) : []
  }
}

const compress: typeof compressCertificates = async (chain) => {
  const late = await import('./lazy.ts')
  return late.compressCertificates(chain)
}

function isSame(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  return one.join(';') === other.join(';')
}
