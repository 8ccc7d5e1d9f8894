// Whether a site has a certificate to show: the relay's, or one of its own, whose code is loaded in the background.

import { withTimeout } from '@svc/protocol/timers'
import type { CertificateKeeper, CertificateKeeperParts } from '../certificate/certificate-keeper.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import { explained } from '../explained.ts'
import type { KeyIdentity } from '../identity/key.ts'
import { CERTIFICATE_VISITOR_WAIT_MS } from '../limits.ts'
import type { Platform } from '../platform.ts'
import type { Obstacle } from '../sentences.ts'
import type { CertificateSource } from '../tenant/certificate-source.ts'
import type { DebugEvent } from './debug-event.ts'
import type { NamedSite } from './options.ts'
import type { Waiting } from './waiting-reason.ts'

interface SiteParts {
  client: RelayClient
  keeper: LeaseKeeper
  certificates: CertificateSource
  identity: KeyIdentity
  /** Called when the site has its certificate, and when the time of the next attempt is known. */
  changed(): void
  onError(error: SvcError): void
  debug(event: DebugEvent): void
}

export class OwnCertificate {
  #site: SiteParts
  /** The reason for which the site shows the relay's certificate alone. */
  #obstacle: Obstacle | undefined
  /** False where the SDK ends no visitor's TLS. */
  #isNeeded: boolean
  #parts: CertificateKeeperParts | undefined
  #keeper: CertificateKeeper | undefined
  #loading: Promise<void> | undefined
  /** The time at which a failed request is repeated, in milliseconds since the epoch. */
  #until: number | undefined
  #arrival = Promise.withResolvers<void>()

  constructor(platform: Platform, options: NamedSite, site: SiteParts) {
    const { siteKeys: store, serveTls, needsCertificate = true, tlsCrypto: crypto } = platform
    const { client, keeper, certificates, identity, onError, debug } = site
    this.#site = site
    this.#isNeeded = needsCertificate && serveTls === undefined
    this.#obstacle = obstacleOf(platform, options)
    // Where the platform serves TLS, the SDK shows no certificate.
    if (this.#obstacle !== undefined || store === undefined || serveTls !== undefined) return
    this.#parts = {
      client,
      keeper,
      site: { relay: client.host, name: options.name, address: identity.address },
      store,
      crypto,
      keyless: () => certificates.keyless,
      use: (certificate) => {
        certificates.use(certificate)
        debug({ type: 'certificate', expiresAt: certificate.own.notAfter })
        this.#arrival.resolve()
        this.#waitsUntil(undefined)
      },
      waits: (until) => this.#waitsUntil(until),
      onError,
    }
  }

  /** True when the site can show visitors a certificate, or shows none. */
  get isReady(): boolean {
    return !this.#isNeeded || this.#site.certificates.current !== undefined
  }

  /** The reason that a site has while {@link isReady} is false. */
  get waiting(): Waiting {
    return { reason: 'certificate', until: this.#until }
  }

  /**
   * Waits for the relay's certificate or, where the relay has none for sites, for the certainty that the site may get one of
   * its own.
   * @throws SvcError `certificate_unavailable` where it cannot
   */
  async ensure(signal: AbortSignal): Promise<void> {
    const { certificates } = this.#site
    await certificates.ensure(signal)
    if (certificates.keyless || !this.#isNeeded) return
    const obstacle = this.#obstacle ?? (this.#isOffered ? undefined : 'relay')
    if (obstacle === undefined) return
    throw await explained('certificate_unavailable', ['noCertificate', obstacle])
  }

  /** Resolves when a visitor can be shown a certificate. Rejects when the visitor has waited for long. */
  async available(): Promise<void> {
    if (this.isReady) return
    const late = (): Error =>
      new SvcError('certificate_unavailable', 'the site still waits for its certificate')
    await withTimeout(this.#arrival.promise, CERTIFICATE_VISITOR_WAIT_MS, late)
  }

  /** Gets or renews the certificate in the background, where the relay issues certificates for sites. */
  check(): void {
    if (!this.#parts || !this.#isOffered) return
    if (this.#keeper) this.#keeper.check()
    else this.#loading ??= this.#load(this.#parts)
  }

  /** Ends what is under way. {@link check} begins again. */
  stop(): void {
    this.#keeper?.stop()
  }

  get #isOffered(): boolean {
    return this.#site.keeper.lease?.extensions.has('site_certificate') ?? false
  }

  #waitsUntil(until: number | undefined): void {
    this.#until = until
    this.#site.changed()
  }

  /** Code cannot be loaded late in a service worker, or while the network is gone: the next check tries again. */
  async #load(parts: CertificateKeeperParts): Promise<void> {
    try {
      const late = await import('../certificate/lazy.ts')
      this.#keeper = new late.CertificateKeeper(parts)
      // A site that was closed or suspended meanwhile has no lease, and then there is nothing to check.
      this.#keeper.check()
    } catch (cause) {
      this.#loading = undefined
      const message = "the code for the site's own certificate cannot be loaded"
      if (!this.isReady) this.#site.onError(new SvcError('certificate_unavailable', message, { cause }))
    }
  }
}

function obstacleOf({ siteKeys }: Platform, { certificate }: NamedSite): Obstacle | undefined {
  if (siteKeys === undefined) return 'store'
  return certificate === 'own' ? undefined : 'option'
}
