// Whether a site gets a certificate of its own, and the code for it, which is loaded when the site has the relay's certificate.

import type { CertificateKeeper, CertificateKeeperParts } from '../certificate/certificate-keeper.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import type { SvcError } from '../errors.ts'
import type { KeyIdentity } from '../identity/key.ts'
import type { Platform } from '../platform.ts'
import type { CertificateSource } from '../tenant/certificate-source.ts'
import type { DebugEvent } from './debug-event.ts'
import type { SiteOptions } from './options.ts'

interface SiteParts {
  client: RelayClient
  keeper: LeaseKeeper
  certificates: CertificateSource
  identity: KeyIdentity
  onError(error: SvcError): void
  debug(event: DebugEvent): void
}

export class OwnCertificate {
  #lease: LeaseKeeper
  /** Undefined where the site shows the relay's certificate alone. */
  #parts: CertificateKeeperParts | undefined
  #keeper: CertificateKeeper | undefined
  #loading: Promise<void> | undefined

  constructor(platform: Platform, { name, certificate }: SiteOptions, site: SiteParts) {
    const { siteKeys: store, serveTls, tlsCrypto: crypto } = platform
    const { client, keeper, certificates, identity, onError, debug } = site
    this.#lease = keeper
    // Where the platform serves TLS, the SDK shows no certificate.
    if (certificate === 'shared' || store === undefined || serveTls !== undefined) return
    this.#parts = {
      client,
      keeper,
      site: { relay: client.host, name, address: identity.address },
      store,
      crypto,
      keyless: () => certificates.keyless,
      use: (certificate) => {
        certificates.use(certificate)
        debug({ type: 'certificate', expiresAt: certificate.own.notAfter })
      },
      onError,
    }
  }

  /** Gets or renews the certificate in the background, where the relay issues certificates for sites. */
  check(): void {
    if (!this.#parts || !this.#lease.lease?.extensions.has('site_certificate')) return
    if (this.#keeper) this.#keeper.check()
    else this.#loading ??= this.#load(this.#parts)
  }

  /** Ends what is under way. {@link check} begins again. */
  stop(): void {
    this.#keeper?.stop()
  }

  /** Code cannot be loaded late in a service worker, or while the network is gone: the next check tries again. */
  async #load(parts: CertificateKeeperParts): Promise<void> {
    try {
      const { CertificateKeeper } = await import('../certificate/certificate-keeper.ts')
      this.#keeper = new CertificateKeeper(parts)
      // A site that was closed or suspended meanwhile has no lease, and then there is nothing to check.
      this.#keeper.check()
    } catch {
      this.#loading = undefined
    }
  }
}
