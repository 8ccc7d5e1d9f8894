// A site's presence at its relay: lease, certificate and carrier. It handles their events.

import { settledWithin } from '@svc/protocol/timers'
import type { CacheKeeper, CacheKeeperParts } from '../cache/cache-keeper.ts'
import { ShownCertificate } from '../certificate/shown-certificate.ts'
import { SiteCertificate, type SiteCertificateEvents } from '../certificate/site-certificate.ts'
import type { LeaseEvents, Registration } from '../control/lease.ts'
import { LeaseKeeper } from '../control/lease-keeper.ts'
import { RelayClient } from '../control/relay-client.ts'
import { abortError, leaseReplaced, SvcError } from '../errors.ts'
import type { KeyIdentity } from '../identity/key.ts'
import type { Platform } from '../platform.ts'
import { TenantServer } from '../tenant/server.ts'
import { type Addresses, addressesOf, NO_ADDRESSES } from './addresses.ts'
import { Approval } from './approval.ts'
import type { SiteEvents } from './events.ts'
import { notAllowed } from './failure-policy.ts'
import type { Connection, ConnectionEvents } from './lifecycle.ts'
import type { NamedSite } from './options.ts'
import { type CarrierReports, RelayCarriers } from './relay-carriers.ts'
import type { SiteStats } from './site.ts'
import { VisitorDispatcher } from './visitor-dispatcher.ts'
import type { Waiting } from './waiting-reason.ts'

const FOR_APPROVAL: Waiting = { reason: 'approval', until: undefined }
/**
 * The time for which a returning site may ask whether the relay still lets visitors in, before it counts as online.
 */
const APPROVAL_CHECK_DEADLINE_MS = 1_000

export class SiteConnection implements Connection, LeaseEvents, CarrierReports, SiteCertificateEvents {
  readonly carriers: RelayCarriers
  /** Undefined without the option, and until its code is loaded. */
  cache: CacheKeeper | undefined
  #cacheLoaded: Promise<void> | undefined
  /** The addresses of the last lease. */
  addresses: Addresses = NO_ADDRESSES
  #platform: Platform
  #events: SiteEvents
  #site: ConnectionEvents
  #portSuffix: string
  #keeper: LeaseKeeper
  #certificates: ShownCertificate
  #certificate: SiteCertificate
  #visitors: VisitorDispatcher
  #approval = new Approval((signal) => this.#checkApproval(signal))
  /** True when the last attempt succeeded and its carrier has not been lost. */
  #isOpen = false
  /** True when, as far as the carrier knows, the relay takes reverse sessions. */
  #isAdmitted = true
  /** The reason why a carrier or a lease last ended. */
  #lost: SvcError | undefined

  constructor(
    platform: Platform,
    options: NamedSite,
    identity: KeyIdentity,
    events: SiteEvents,
    site: ConnectionEvents,
  ) {
    this.#platform = platform
    this.#events = events
    this.#site = site
    const { relay, cache } = options
    const { error: onError } = events
    const client = new RelayClient(relay, platform.fetch)
    const request = {
      ...options,
      identity,
      tcp: platform.serveRaw !== undefined,
      udp: platform.openDatagrams !== undefined,
      checkGateway: platform.gateways?.check,
      isStated: true,
    }
    const keeper = new LeaseKeeper(client, request, this)
    const certificates = new ShownCertificate(client, keeper, onError, !!options.tls.clientCertificates)
    const common = { client, keeper, certificates, onError }
    const { siteKeys, serveTls, needsCertificate = true, tlsCrypto: crypto } = platform
    const certificateOptions = {
      ...common,
      site: { relay: client.host, name: options.name, address: identity.address },
      isWanted: options.certificate === 'own',
      isNeeded: needsCertificate && serveTls === undefined,
      store: serveTls === undefined ? siteKeys : undefined,
      crypto,
    }
    this.#certificate = new SiteCertificate(certificateOptions, this)
    this.carriers = new RelayCarriers(platform, relay, keeper, events)
    const { admit, endTls } = platform
    this.#visitors = new VisitorDispatcher({
      platform,
      server: new TenantServer({ ...options, ...common, crypto, admit, endTls }),
      maxConnections: options.maxConnections,
      certificate: this.#certificate,
      carriers: this.carriers,
      events,
      site,
      connection: this,
    })
    const isOnline = (): boolean => site.isOnline
    const changed: SiteEvents['cache'] = (status) => events.cache(status)
    this.#cacheLoaded = cache && this.#loadCache({ ...cache, ...common, isOnline, changed })
    this.#portSuffix = client.portSuffix
    this.#keeper = keeper
    this.#certificates = certificates
  }

  get lease(): Registration | undefined {
    return this.#keeper.lease
  }

  get stats(): Omit<SiteStats, 'reconnects'> {
    const { stats: connections, failedVisitors } = this.#visitors
    const { stats, traffic } = this.carriers
    return { ...stats, connections, failedVisitors, ...traffic }
  }

  /**
   * Registers or renews, and opens a carrier with a stream ready for visitors.
   * @param isTrusting skips a renewal that is not due. That saves a round trip, and a request on a pooled connection that
   *   died with the WebSocket and would have to time out.
   */
  async open(isTrusting: boolean, signal: AbortSignal): Promise<void> {
    const before = this.lease
    const lease = await this.#keeper.acquire(signal, isTrusting)
    const attempt = new AbortController()
    try {
      await this.#openAt(lease, isTrusting, AbortSignal.any([signal, attempt.signal]))
    } catch (error) {
      // One part of the attempt failed: abort the others.
      attempt.abort()
      this.#closeCarrier()
      throw before || !(await this.#keeper.isGone(signal)) ? error : leaseReplaced()
    }
    this.#isOpen = true
    this.#site.connected()
    this.changed()
  }

  online(): void {
    this.#certificate.check()
    this.cache?.check()
  }

  /** Checks the connection at once, because the network is back or the page is visible again. */
  wake(): void {
    this.carriers.probe()
    this.traffic()
  }

  dropLease(): void {
    this.#keeper.drop()
  }

  async drain(): Promise<void> {
    this.#approval.stop()
    this.#visitors.finish()
    await this.carriers.drain()
  }

  stop(): void {
    this.#certificate.stop()
    this.cache?.stop()
    this.#closeCarrier()
    this.carriers.closeDatagrams()
  }

  async release(keepalive: boolean): Promise<void> {
    if (this.lease) this.#events.debug({ type: 'lease', change: 'released' })
    await this.#keeper.release(keepalive)
    await this.#platform.storesDone?.()
  }

  // Events of the lease.

  registered(): void {
    this.#events.debug({ type: 'lease', change: 'registered' })
  }

  renewed(): void {
    this.#events.debug({ type: 'lease', change: 'renewed' })
    if (this.#isOpen && this.carriers.hasMoved) {
      this.ended(new SvcError('relay_unreachable', 'the relay moved the endpoint of reverse sessions'))
      return
    }
    this.changed()
    if (this.#site.isOnline) {
      this.#events.releaseError()
      this.#certificate.check()
    }
    this.carriers.fill()
    this.#certificates.refreshWhenOld()
  }

  /** Drops pooled connections, so that the next attempt does not use one to the machine that did not answer. */
  failed(error: SvcError): void {
    this.#forgetConnections(error)
    this.#events.error(error)
  }

  gone(error: SvcError): void {
    this.ended(error)
  }

  /** The relay did not accept all of the metadata. */
  reduced(error: SvcError): void {
    this.#events.holdError(error)
  }

  // Events of the carrier.

  traffic(): void {
    this.#keeper.touch()
    this.#approval.touch()
  }

  admits(isAdmitting: boolean): void {
    this.#isAdmitted = isAdmitting
    this.changed()
  }

  ended(reason: SvcError): void {
    this.#lost = reason
    if (!this.#isOpen) return
    this.#closeCarrier()
    this.#forgetConnections(reason)
    this.#site.lost(reason)
  }

  // Events of the certificate.

  issued(expiresAt: number): void {
    this.#events.debug({ type: 'certificate', expiresAt })
  }

  /** Reports whether visitors can connect, from what the relay last said about the lease and its sessions. */
  changed(): void {
    const { lease } = this
    if (!this.#isOpen || !lease) return
    if (lease.routing === 'rejected') {
      this.ended(notAllowed())
      return
    }
    if (lease.routing === 'approval') {
      this.#approval.start()
      this.#site.waits(FOR_APPROVAL)
      return
    }
    this.#approval.stop()
    if (!this.#isAdmitted) this.#site.waits({ reason: 'relay_full', until: undefined })
    else if (this.#certificate.isReady) this.#site.waits(undefined)
    else {
      this.#certificate.check()
      this.#site.waits({ reason: 'certificate', until: this.#certificate.retryAt })
    }
  }

  async #openAt(lease: Registration, isTrusting: boolean, signal: AbortSignal): Promise<void> {
    if (lease.routing === 'rejected') throw notAllowed()
    this.addresses = addressesOf(lease, this.#portSuffix)
    // Change the status before anything that may take long.
    if (lease.routing === 'approval') this.#site.waits(FOR_APPROVAL)
    await this.carriers.openDatagrams(signal)
    this.#isAdmitted = true
    // The relay may be far away, so the certificate is fetched while the carrier opens. An early visitor waits for it.
    await Promise.all([
      this.#prepare(lease, signal),
      this.#cacheLoaded,
      this.carriers.openCarrier(lease, this.#visitors, this, signal),
      // The relay may have ended the last carrier because the site lost its approval, which a trusted lease does not
      // show.
      isTrusting && settledWithin(this.#checkApproval(signal), APPROVAL_CHECK_DEADLINE_MS),
    ])
    if (signal.aborted) throw abortError(signal)
    if (!this.carriers.isOpen) throw this.#lost
  }

  async #prepare(lease: Registration, signal: AbortSignal): Promise<void> {
    await this.#visitors.prepare(signal)
    if (lease.routing === 'allowed') this.#certificate.check()
  }

  async #checkApproval(signal: AbortSignal): Promise<void> {
    await this.#keeper.look(signal)
    this.changed()
  }

  /** Loading code fails in a service worker and without a network. */
  async #loadCache(parts: CacheKeeperParts): Promise<void> {
    try {
      const late = await import('../cache/cache-keeper.ts')
      this.cache = new late.CacheKeeper(parts)
    } catch (cause) {
      this.#events.holdError(
        new SvcError('cache_unavailable', 'the code for cache cannot be loaded', { cause }),
      )
    }
  }

  #closeCarrier(): void {
    this.#isOpen = false
    this.#approval.stop()
    this.carriers.closeCarrier()
  }

  #forgetConnections({ code }: SvcError): void {
    if (code === 'relay_unreachable') this.#platform.forgetConnections?.()
  }
}
