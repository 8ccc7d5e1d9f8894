// Tells whether a site has a certificate to present: the relay's, or its own, whose code is loaded in the background.

import { withTimeout } from '@svc/protocol/timers'
import type { CryptoProvider } from '@svc/tls'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import { explained } from '../explained.ts'
import type { CertificateKeeper } from './certificate-keeper.ts'
import type { OwnCertificate } from './server-certificate.ts'
import type { ShownCertificate } from './shown-certificate.ts'
import type { SiteKeyStore, SiteName } from './site-key.ts'

/**
 * The time that a visitor waits for a site without its first certificate: as long as a relay lets
 * visitors wait for a session.
 */
export const CERTIFICATE_VISITOR_WAIT_MS = 10_000

export interface SiteCertificateOptions {
  client: RelayClient
  keeper: LeaseKeeper
  certificates: ShownCertificate
  site: SiteName
  /** False when the site must present only the relay's certificate. */
  isWanted: boolean
  /** False when visitors can connect without a certificate of the SDK. */
  isNeeded: boolean
  /** Undefined when the platform stores no keys, or terminates TLS itself. */
  store: SiteKeyStore | undefined
  crypto: CryptoProvider | undefined
  onError(error: SvcError): void
}

/** SiteCertificateEvents are the reports of a site's certificate to the site. */
export interface SiteCertificateEvents {
  /** Called when the site has its own certificate. `expiresAt` is in milliseconds since the epoch. */
  issued(expiresAt: number): void
  /** Called when the site has its certificate, and when the time of the next attempt is known. */
  changed(): void
}

export class SiteCertificate {
  /** The time at which the SDK repeats a failed request, in milliseconds since the epoch. */
  retryAt: number | undefined
  #options: SiteCertificateOptions
  #events: SiteCertificateEvents
  #keeper: CertificateKeeper | undefined
  #loading: Promise<void> | undefined
  #arrival = Promise.withResolvers<void>()

  constructor(options: SiteCertificateOptions, events: SiteCertificateEvents) {
    this.#options = options
    this.#events = events
  }

  /** True when the site has a certificate to present, or needs none. */
  get isReady(): boolean {
    const { isNeeded, certificates } = this.#options
    return !isNeeded || certificates.current !== undefined
  }

  /**
   * Waits for the relay's certificate or, when the relay has none for sites, until it is certain that the site may get one of
   * its own.
   * @throws SvcError `certificate_unavailable` when the site cannot get one
   */
  async ensure(signal: AbortSignal): Promise<void> {
    const { certificates, isNeeded, store, isWanted } = this.#options
    await certificates.ensure(signal)
    if (certificates.fallback || !isNeeded || (store && isWanted && this.#isOffered)) return
    const obstacle = !store ? 'store' : isWanted ? 'relay' : 'option'
    throw await explained('certificate_unavailable', [
      'noCertificate',
      obstacle,
      certificates.keyless !== undefined,
    ])
  }

  /** Resolves when the site has a certificate for a visitor. Rejects when the visitor has waited too long. */
  async available(): Promise<void> {
    if (this.isReady) return
    const late = (): Error =>
      new SvcError('certificate_unavailable', 'the site is still waiting for its certificate')
    await withTimeout(this.#arrival.promise, CERTIFICATE_VISITOR_WAIT_MS, late)
  }

  /** Gets or renews the certificate in the background, if the relay issues certificates to sites. */
  check(): void {
    const { store, isWanted } = this.#options
    if (!store || !isWanted || !this.#isOffered) return
    if (this.#keeper) this.#keeper.check()
    else this.#loading ??= this.#load(store)
  }

  /** Stops the current attempt. {@link check} starts again. */
  stop(): void {
    this.#keeper?.stop()
  }

  get #isOffered(): boolean {
    return this.#options.keeper.lease?.extensions.has('site_certificate') ?? false
  }

  #use(certificate: OwnCertificate): void {
    this.#options.certificates.use(certificate)
    this.#events.issued(certificate.own.notAfter)
    this.#arrival.resolve()
    this.#retryAfter(undefined)
  }

  #retryAfter(until: number | undefined): void {
    this.retryAt = until
    this.#events.changed()
  }

  /** Loading code fails in a service worker and without a network: the next check tries again. */
  async #load(store: SiteKeyStore): Promise<void> {
    const { onError } = this.#options
    try {
      const late = await import('./lazy.ts')
      this.#keeper = new late.CertificateKeeper({
        ...this.#options,
        store,
        use: (certificate) => this.#use(certificate),
        waits: (until) => this.#retryAfter(until),
      })
      // If the site was closed or suspended meanwhile, it has no lease and there is nothing to check.
      this.#keeper.check()
    } catch (cause) {
      this.#loading = undefined
      const message = "the code for the site's own certificate cannot be loaded"
      if (!this.isReady) onError(new SvcError('certificate_unavailable', message, { cause }))
    }
  }
}
