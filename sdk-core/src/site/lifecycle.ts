// The lifecycle of a published site: connecting, online, reconnecting until it succeeds, closed.

import { withTimeout } from '@svc/protocol/timers'
import type { Activation } from '../carrier/reverse-stream.ts'
import { LeaseKeeper } from '../control/lease-keeper.ts'
import type { CacheLimits, Registration } from '../control/registration.ts'
import { RelayClient } from '../control/relay-client.ts'
import { abortError, asSvcError, leaseReplaced, SvcError } from '../errors.ts'
import { type FetchHandler, running } from '../exchange/fetch-handler.ts'
import type { KeyIdentity } from '../identity/key.ts'
import { APPROVAL_CHECK_DEADLINE_MS, CLOSE_GRACE_MS, STABLE_AFTER_MS } from '../limits.ts'
import type { DatagramStats, Platform, SiteCarrier } from '../platform.ts'
import { CertificateSource } from '../tenant/certificate-source.ts'
import { addressesOf, NO_ADDRESSES } from './addresses.ts'
import type { ApprovalPoll } from './approval-poll.ts'
import { SiteEvents } from './events.ts'
import { isWorthWaiting, notAllowed, waitingReason } from './failure-policy.ts'
import type { NamedSite } from './options.ts'
import { OwnCertificate } from './own-certificate.ts'
import { Reconnection } from './reconnection.ts'
import { RelayConnections } from './relay-connections.ts'
import type { SiteState, SiteStats } from './site.ts'
import { StaticCache } from './static-cache.ts'
import { SiteStatus } from './status.ts'
import { VisitorDispatcher } from './visitor-dispatcher.ts'
import type { Waiting } from './waiting-reason.ts'

const FOR_APPROVAL: Waiting = { reason: 'approval', until: undefined }

export class PublishedSite extends EventTarget {
  readonly cache: StaticCache | undefined
  #platform: Platform
  #portSuffix: string
  #fetch: FetchHandler
  #keeper: LeaseKeeper
  #certificates: CertificateSource
  #ownCertificate: OwnCertificate
  #dispatcher: VisitorDispatcher
  #reconnection = new Reconnection({
    connect: (trusting) => this.#connect(trusting),
    wasOnline: () => this.#timesOnline > 0,
    leaseLost: () => this.#keeper.drop(),
    failed: (reason) => this.#failed(reason),
    pauses: (reason, ms) => this.#pauses(reason, ms),
  })
  #status = new SiteStatus(() => this.#statusChanged())
  /** Undefined until the site first waits for an approval. */
  #approval: ApprovalPoll | undefined
  #addresses = NO_ADDRESSES
  #relayConnections: RelayConnections
  #carrier: SiteCarrier | undefined
  /** The relay takes reverse sessions, as far as the carrier knows. */
  #isAdmitted = true
  /** Resolves when the site is online. Rejects when it closes before that. */
  #online = Promise.withResolvers<void>()
  /** The reason for which the site closed by itself. */
  #failure: SvcError | undefined
  /** The reason for which a carrier ended last. */
  #lost: SvcError | undefined
  #timesOnline = 0
  #onlineAt = 0
  /** Aborted when the site closes or is suspended. All work of the site ends with it. */
  #run = new AbortController()
  #gone = new AbortController()
  #closing: Promise<void> | undefined
  #events: SiteEvents

  constructor(platform: Platform, options: NamedSite, identity: KeyIdentity) {
    super()
    this.#platform = platform
    this.#fetch = options.fetch
    const client = new RelayClient(options.relay, platform.fetch)
    const onError = (error: SvcError): void => this.#events.error(error)
    const { name, ttlS, allowCanonicalFallback, metadata, debug, cache } = options
    this.#events = new SiteEvents(this, debug)
    const keeper = new LeaseKeeper(
      client,
      {
        name,
        identity,
        ttlS,
        allowCanonicalFallback,
        metadata,
        tcp: platform.serveRaw !== undefined,
        udp: platform.openDatagrams !== undefined,
        checkGateway: platform.gateways?.check,
        cache,
        isStated: true,
      },
      {
        registered: () => this.#events.debug({ type: 'lease', change: 'registered' }),
        renewed: () => this.#renewed(),
        failed: (error) => this.#renewalFailed(error),
        gone: (error) => this.#carrierLost(error),
        // The relay did not take all of the metadata.
        reduced: (error) => this.#events.holdError(error),
      },
    )
    const certificates = new CertificateSource(client, keeper, onError)
    this.#dispatcher = new VisitorDispatcher({
      ...options,
      platform,
      client,
      keeper,
      certificates,
      canonicalUrl: () => this.canonicalUrl,
      roomCame: () => this.#carrier?.fill(),
      pressure: (closedForOthers, isFull) => this.#events.pressure(closedForOthers, isFull),
      onError,
    })
    this.#ownCertificate = new OwnCertificate(platform, options, {
      client,
      keeper,
      certificates,
      identity,
      changed: () => this.#updateStatus(),
      onError,
      debug: this.#events.debug,
    })
    this.#relayConnections = new RelayConnections(platform, options.relay, keeper, onError)
    this.cache =
      cache &&
      new StaticCache({
        ...cache,
        client,
        keeper,
        isOnline: () => this.#status.state === 'online',
        changed: (status) => this.#events.cache(status),
        onError,
      })
    this.#portSuffix = client.portSuffix
    this.#keeper = keeper
    this.#certificates = certificates
  }

  get url(): string {
    return this.#addresses.url
  }

  get urls(): readonly string[] {
    return this.state === 'online' ? [this.url] : []
  }

  get canonicalUrl(): string {
    return this.#addresses.canonicalUrl
  }

  get tcpAddress(): string | undefined {
    return this.#addresses.tcpAddress
  }

  get udpAddress(): string | undefined {
    return this.#addresses.udpAddress
  }

  get cacheLimits(): CacheLimits | undefined {
    return this.#keeper.lease?.cacheLimits
  }

  get relayRelease(): string | undefined {
    return this.#keeper.lease?.release
  }

  datagramStats(): DatagramStats | undefined {
    return this.#relayConnections.datagramStats
  }

  get state(): SiteState {
    return this.#status.state
  }

  get waiting(): Waiting | undefined {
    return this.#status.waiting
  }

  /**
   * Resolves when the site is online for the first time. Rejects, with the site closed, when that fails. Once the relay
   * has made the site wait, the site also waits for a relay that is away.
   */
  async start(): Promise<void> {
    const { signal } = this.#run
    try {
      await this.#connect(false)
    } catch (error) {
      const reason = asSvcError(error, 'relay_unreachable', 'the site could not be published')
      if (this.#status.state === 'closed' || !(isWorthWaiting(reason) || signal.aborted)) {
        await this.close()
        throw reason
      }
      // When the site was suspended meanwhile, resume() connects it.
      if (!signal.aborted) this.#reconnection.run(reason, this.#run.signal)
    }
    await this.#online.promise
  }

  stats(): SiteStats {
    const none = { openStreams: 0, readyStreams: 0, webSockets: 0, rttMs: undefined }
    const reconnects = Math.max(0, this.#timesOnline - 1)
    const { stats: connections, failedVisitors } = this.#dispatcher
    const carrier = this.#carrier?.stats ?? none
    return { ...carrier, connections, failedVisitors, ...this.#relayConnections.traffic, reconnects }
  }

  /** Aborted when nothing of the site is left. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** A handler that waited for the end would wait for its own response: it does not. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    if (running.handler !== this.#fetch) await this.#closing
  }

  /** Checks the connection, or tries to connect, at once: the network is back, or the page is visible again. */
  wake(): void {
    this.#reconnection.wake()
    this.#carrier?.probe?.()
    this.#keeper.touch()
    this.#approval?.touch()
  }

  /** Disconnects because the page goes away. It may come back from the back/forward cache. */
  suspend(): void {
    this.#setOffline()
    this.#stop()
    this.#release(true)
  }

  /** Connects again because the page is back. */
  resume(): void {
    if (this.#status.state === 'closed' || !this.#run.signal.aborted) return
    this.#run = new AbortController()
    this.#reconnection.run(undefined, this.#run.signal)
  }

  /** Connected visitors finish first, for the relay ends their connections with the lease. */
  async #close(): Promise<void> {
    this.#status.set('closed')
    this.#run.abort()
    this.#approval?.stop()
    this.#online.promise.catch(() => {}) // The caller that awaits this promise gets the error.
    this.#online.reject(this.#failure ?? abortError(this.#run.signal))
    this.#dispatcher.finish()
    if (this.#carrier)
      await withTimeout(this.#carrier.drain(), CLOSE_GRACE_MS, () => new Error()).catch(() => {})
    this.#stop()
    await this.#release(false)
    this.#gone.abort()
  }

  async #release(keepalive: boolean): Promise<void> {
    if (this.#keeper.lease) this.#events.debug({ type: 'lease', change: 'released' })
    await this.#keeper.release(keepalive)
  }

  #stop(): void {
    this.#run.abort()
    this.#approval?.stop()
    this.#ownCertificate.stop()
    this.cache?.stop()
    this.#carrier?.close()
    this.#carrier = undefined
    this.#relayConnections.closeDatagrams()
  }

  /**
   * Registers or renews, and opens a carrier with a stream ready for visitors.
   * @param trusting skips a renewal that is not due. That saves a round trip, and a request on a kept connection that
   *   died with the WebSocket and would have to time out.
   */
  async #connect(trusting: boolean): Promise<void> {
    const { signal } = this.#run
    const before = this.#keeper.lease
    const lease = await this.#keeper.acquire(signal, trusting)
    await this.#goOnline(lease, trusting, signal).catch(async (error) => {
      throw before || !(await this.#keeper.isGone(signal)) ? error : leaseReplaced()
    })
  }

  async #goOnline(lease: Registration, trusting: boolean, signal: AbortSignal): Promise<void> {
    if (lease.routing === 'rejected') throw notAllowed()
    this.#addresses = addressesOf(lease, this.#portSuffix)
    // The status changes before anything that may take long.
    if (lease.routing === 'approval') this.#status.wait(FOR_APPROVAL)
    await this.#relayConnections.openDatagrams(signal)
    this.#isAdmitted = true
    // The relay may be far away: its certificate comes while the carrier opens, and a visitor who is sooner waits.
    const ready = Promise.all([this.#ownCertificate.ensure(signal), this.#dispatcher.ready()])
    ready.then(
      () => lease.routing === 'allowed' && this.#ownCertificate.check(),
      () => {},
    )
    // The relay may have ended the last carrier because the site lost its approval. A lease that was trusted does not
    // say so.
    const approvalChecked = trusting ? this.#checkApproval(signal) : Promise.resolve()
    approvalChecked.catch(() => {})
    const opening = this.#openCarrier(lease, ready, signal)
    const [carrier] = await Promise.all([opening, ready]).catch((error) => {
      opening.then(
        (opened) => opened.close(),
        () => {},
      )
      throw error
    })
    if (signal.aborted || carrier.isClosed) {
      carrier.close()
      throw signal.aborted ? abortError(signal) : this.#lost
    }
    this.#carrier = carrier
    await withTimeout(approvalChecked, APPROVAL_CHECK_DEADLINE_MS, () => new Error()).catch(() => {})
    if (this.#carrier !== carrier) return // The carrier was lost meanwhile, and #carrierLost connects again.
    this.#onlineAt = performance.now()
    this.#timesOnline += 1
    this.#updateStatus()
  }

  /**
   * Sets the status of a site whose relay is reachable, from what the relay last said of the lease and of its sessions.
   */
  #updateStatus(): void {
    const { lease } = this.#keeper
    if (!this.#carrier || !lease || this.#status.state === 'closed') return
    if (lease.routing === 'rejected') {
      this.#carrierLost(notAllowed())
      return
    }
    if (lease.routing === 'approval') {
      if (this.#approval) this.#approval.start()
      else this.#loadApprovalPoll()
      this.#status.wait(FOR_APPROVAL)
      return
    }
    this.#approval?.stop()
    if (!this.#isAdmitted) this.#status.wait({ reason: 'relay_full', until: undefined })
    else if (this.#ownCertificate.isReady) this.#status.set('online')
    else {
      this.#ownCertificate.check()
      this.#status.wait(this.#ownCertificate.waiting)
    }
  }

  /** Where the code cannot be loaded, as in a service worker, the site learns of the approval when it renews the lease. */
  async #loadApprovalPoll(): Promise<void> {
    try {
      const late = await import('./approval-poll.ts')
      this.#approval ??= new late.ApprovalPoll((signal) => this.#checkApproval(signal))
      this.#updateStatus()
    } catch {}
  }

  async #checkApproval(signal: AbortSignal): Promise<void> {
    await this.#keeper.look(signal)
    this.#updateStatus()
  }

  /** @param ready settles when visitors can be served, or rejects when they cannot */
  #openCarrier(lease: Registration, ready: Promise<unknown>, signal: AbortSignal): Promise<SiteCarrier> {
    const events = {
      hasRoomFor: (visitors: number) => this.#dispatcher.hasRoomFor(visitors),
      serve: (activation: Activation) => {
        // The relay can be reached, for however short a time.
        this.#reconnection.reset()
        const isTls = activation.binding !== undefined
        const servable = isTls ? ready.then(() => this.#ownCertificate.available()) : ready
        return this.#dispatcher.serve(activation, servable)
      },
      traffic: () => {
        this.#keeper.touch()
        this.#approval?.touch()
      },
      admits: (isAdmitting: boolean) => {
        this.#isAdmitted = isAdmitting
        this.#updateStatus()
      },
      ended: (reason: SvcError) => this.#carrierLost(reason),
      debug: this.#events.debug,
    }
    return this.#relayConnections.openCarrier(lease, events, signal)
  }

  #renewed(): void {
    this.#events.debug({ type: 'lease', change: 'renewed' })
    if (this.#carrier && this.#relayConnections.hasMoved) {
      this.#carrierLost(new SvcError('relay_unreachable', 'the relay moved the endpoint of reverse sessions'))
      return
    }
    this.#updateStatus()
    if (this.#status.state === 'online') {
      this.#events.releaseError()
      this.#ownCertificate.check()
    }
    this.#carrier?.fill()
    this.#certificates.refreshWhenOld()
  }

  /** The next attempt should not take a kept connection to the machine that did not answer. */
  #renewalFailed(error: SvcError): void {
    if (error.code === 'relay_unreachable') this.#platform.forgetConnections?.()
    this.#events.error(error)
  }

  /** Reconnects a site that had a carrier and has none any more. */
  #carrierLost(reason: SvcError): void {
    this.#lost = reason
    if (!this.#carrier || this.#status.state === 'closed') return
    this.#carrier.close()
    this.#carrier = undefined
    this.#approval?.stop()
    this.#setOffline()
    if (performance.now() - this.#onlineAt > STABLE_AFTER_MS) this.#reconnection.reset()
    if (reason.code === 'relay_unreachable') this.#platform.forgetConnections?.()
    this.#reconnection.run(reason, this.#run.signal)
  }

  /** Closes the site for a failure that only the tenant can mend. */
  #failed(reason: SvcError): void {
    this.#failure = reason
    this.close()
    this.#events.error(reason)
  }

  #pauses(reason: SvcError, ms: number): void {
    const { signal } = this.#run
    const waiting = waitingReason(reason)
    if (waiting) this.#status.wait({ reason: waiting, until: Date.now() + ms })
    else this.#setOffline()
    this.#events.error(reason)
    if (!signal.aborted) this.#events.debug({ type: 'retry', inMs: ms })
  }

  #setOffline(): void {
    this.#status.set(this.#timesOnline === 0 ? 'connecting' : 'reconnecting')
  }

  #statusChanged(): void {
    if (this.#status.state === 'online') {
      this.#online.resolve()
      this.#ownCertificate.check()
      this.cache?.check()
    }
    this.#events.urls(this.urls)
    this.#events.state(this.#status)
  }
}
