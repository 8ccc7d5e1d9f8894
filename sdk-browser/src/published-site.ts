// The life of a published site: connecting, online, reconnecting for as long as it takes, closed.

import { addressesOf, NO_ADDRESSES } from './addresses.ts'
import { ApprovalWatch } from './approval-watch.ts'
import { Backoff } from './carrier/backoff.ts'
import { type CarrierEvents, openCarrier } from './carrier/carrier.ts'
import type { Traffic } from './carrier/link.ts'
import type { Activation } from './carrier/reverse-stream.ts'
import { openWebSocket } from './carrier/websocket.ts'
import { RelayClient } from './control/client.ts'
import { LeaseKeeper } from './control/lease-keeper.ts'
import type { Registration } from './control/registration.ts'
import { withDeadline } from './deadline.ts'
import type { DebugEvent } from './debug.ts'
import { abortError, asSvcError, SvcError } from './errors.ts'
import { isFatal, isLeaseLost, isWorthWaiting, notAllowed, waitingReason } from './failures.ts'
import type { KeyIdentity } from './identity/key.ts'
import { CLOSE_GRACE_MS, LOOK_DEADLINE_MS, STABLE_AFTER_MS } from './limits.ts'
import type { SiteOptions } from './options.ts'
import type { DatagramCarrier, DatagramStats, Platform, SiteCarrier } from './platform.ts'
import { SiteErrorEvent, type SiteState, type SiteStats } from './site.ts'
import { SiteStatus } from './site-status.ts'
import { CertificateSource } from './tenant/certificate.ts'
import { TenantServer } from './tenant/server.ts'
import type { Waiting } from './waiting.ts'

const FOR_APPROVAL: Waiting = { reason: 'approval', until: undefined }

export class PublishedSite extends EventTarget {
  #platform: Platform
  #portSuffix: string
  #keeper: LeaseKeeper
  #certificates: CertificateSource
  #server: TenantServer
  #backoff = new Backoff()
  #status = new SiteStatus(() => this.#statusChanged())
  #approval = new ApprovalWatch((signal) => this.#look(signal))
  #addresses = NO_ADDRESSES
  readonly #relay: URL
  #datagrams: DatagramCarrier | undefined
  #carrier: SiteCarrier | undefined
  /** The relay takes sessions, as far as the carrier knows. */
  #isAdmitted = true
  /** Rejects when the site closes before it was online. */
  #online = Promise.withResolvers<void>()
  /** Why the site closed by itself. */
  #failure: SvcError | undefined
  #traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  #timesOnline = 0
  #onlineAt = 0
  /** Metadata that the relay did not take: told when whoever awaits `publish` has had the time to listen. */
  #refused: SvcError | undefined
  /** Aborted when the site closes or is suspended; what runs ends with it. */
  #run = new AbortController()
  #gone = new AbortController()
  #closing: Promise<void> | undefined
  #tell: (event: DebugEvent) => void

  constructor(platform: Platform, options: SiteOptions, identity: KeyIdentity) {
    super()
    this.#platform = platform
    this.#relay = options.relay
    const client = new RelayClient(options.relay, platform.fetch)
    const onError = (error: SvcError): void => this.#report(error)
    const { name, ttlS, allowCanonicalFallback, metadata, fetch, tls, http2, debug } = options
    // what it throws is reported like the errors of event listeners, and does not reach the site
    this.#tell = (event) => queueMicrotask(() => debug?.(event))
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
      },
      {
        registered: () => this.#tell({ type: 'lease', change: 'registered' }),
        renewed: () => this.#renewed(),
        failed: onError,
        gone: (error) => this.#lost(error),
        reduced: (error) => {
          this.#refused = error
        },
      },
    )
    const certificates = new CertificateSource(client, keeper, onError)
    this.#server = new TenantServer({
      client,
      keeper,
      certificates,
      fetch,
      http2,
      crypto: platform.tlsCrypto,
      admit: platform.admit,
      tls,
      onError,
    })
    this.#portSuffix = client.portSuffix
    this.#keeper = keeper
    this.#certificates = certificates
  }

  get url(): string {
    return this.#addresses.url
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

  datagramStats(): DatagramStats | undefined {
    return this.#datagrams?.stats
  }

  get state(): SiteState {
    return this.#status.state
  }

  get waiting(): Waiting | undefined {
    return this.#status.waiting
  }

  /**
   * Comes online once, or rejects and is closed. From the first time on that the relay makes it wait, a relay that is
   * away is waited for as well.
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
      // suspended meanwhile: what resumes it connects
      if (!signal.aborted) this.#reconnect(reason)
    }
    await this.#online.promise
  }

  stats(): SiteStats {
    const none = { openStreams: 0, readyStreams: 0, webSockets: 0, rttMs: undefined }
    const reconnects = Math.max(0, this.#timesOnline - 1)
    return { ...(this.#carrier?.stats ?? none), ...this.#traffic, reconnects }
  }

  /** Aborted when nothing of the site is left. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The network is back, or the page is looked at again: find out, or try again, at once. */
  wake(): void {
    this.#backoff.wake()
    this.#carrier?.probe?.()
    this.#keeper.touch()
    this.#approval.touch()
  }

  /** The page goes away, perhaps to come back from the back/forward cache. */
  suspend(): void {
    this.#setOffline()
    this.#stop()
    this.#release(true)
  }

  /** The page is back. */
  resume(): void {
    if (this.#status.state === 'closed' || !this.#run.signal.aborted) return
    this.#run = new AbortController()
    this.#reconnect(undefined)
  }

  /** Those who are here finish first: the relay ends their connections with the lease. */
  async #close(): Promise<void> {
    this.#status.set('closed')
    this.#run.abort()
    this.#approval.stop()
    this.#online.promise.catch(() => {}) // who waits for it learns of it
    this.#online.reject(this.#failure ?? new SvcError('aborted', 'the site was closed before it was online'))
    this.#server.finish()
    if (this.#carrier)
      await withDeadline(this.#carrier.drain(), CLOSE_GRACE_MS, () => new Error()).catch(() => {})
    this.#stop()
    await this.#release(false)
    this.#gone.abort()
  }

  async #release(keepalive: boolean): Promise<void> {
    if (this.#keeper.lease) this.#tell({ type: 'lease', change: 'released' })
    await this.#keeper.release(keepalive)
  }

  #stop(): void {
    this.#run.abort()
    this.#approval.stop()
    this.#carrier?.close()
    this.#carrier = undefined
    this.#datagrams?.close()
    this.#datagrams = undefined
  }

  /**
   * Registers or renews, and opens a carrier with a stream ready for visitors.
   * @param trusting without a renewal that is not due: one round trip less, and no request on a kept connection that
   *   died with the WebSocket and would have to time out
   */
  async #connect(trusting: boolean): Promise<void> {
    const { signal } = this.#run
    const lease = await this.#keeper.acquire(signal, trusting)
    if (lease.routing === 'rejected') throw notAllowed()
    this.#addresses = addressesOf(lease, this.#portSuffix)
    // before anything that may take long
    if (lease.routing === 'approval') this.#status.wait(FOR_APPROVAL)
    await Promise.all([this.#certificates.ensure(signal), this.#server.ready()])
    await this.#openDatagrams(signal)
    this.#isAdmitted = true
    // The relay may have ended the last carrier because the site lost its approval; a lease that was trusted does not say so.
    const looked = trusting ? this.#look(signal) : Promise.resolve()
    looked.catch(() => {})
    const carrier = await this.#openCarrier(lease, signal)
    if (signal.aborted || carrier.isClosed) {
      carrier.close()
      throw signal.aborted
        ? abortError(signal)
        : new SvcError('relay_unreachable', 'the carrier ended at once')
    }
    this.#carrier = carrier
    await withDeadline(looked, LOOK_DEADLINE_MS, () => new Error()).catch(() => {})
    if (this.#carrier !== carrier) return // lost meanwhile, and what lost it connects again
    this.#onlineAt = performance.now()
    this.#timesOnline += 1
    this.#assess()
  }

  /** What the state is where the relay can be reached: by what it last said of the lease and of its sessions. */
  #assess(): void {
    const { lease } = this.#keeper
    if (!this.#carrier || !lease || this.#status.state === 'closed') return
    if (lease.routing === 'rejected') {
      this.#lost(notAllowed())
      return
    }
    if (lease.routing === 'approval') {
      this.#approval.start()
      this.#status.wait(FOR_APPROVAL)
      return
    }
    this.#approval.stop()
    if (this.#isAdmitted) this.#status.set('online')
    else this.#status.wait({ reason: 'relay_full', until: undefined })
  }

  async #look(signal: AbortSignal): Promise<void> {
    await this.#keeper.look(signal)
    this.#assess()
  }

  /** Once: it comes back by itself, for as long as there is a lease. */
  async #openDatagrams(signal: AbortSignal): Promise<void> {
    const { openDatagrams: open } = this.#platform
    if (this.#datagrams) return this.#datagrams.wake()
    if (!open) return
    const datagrams = await open(
      this.#relay,
      {
        accessToken: () => this.#keeper.lease?.accessToken,
        stale: () => this.#keeper.renewNow(),
        failed: (error) => this.#report(error),
      },
      signal,
    )
    if (signal.aborted) datagrams.close()
    else this.#datagrams = datagrams
  }

  #openCarrier(lease: Registration, signal: AbortSignal): Promise<SiteCarrier> {
    const { webSocketOptions: options, openCarrier: open } = this.#platform
    const capability = (): string => (this.#keeper.lease ?? lease).capability
    const events: CarrierEvents = {
      capability,
      serve: (activation) => this.#serve(activation),
      traffic: () => {
        this.#keeper.touch()
        this.#approval.touch()
      },
      stale: () => this.#keeper.renewNow(),
      admits: (isAdmitting) => {
        this.#isAdmitted = isAdmitting
        this.#assess()
      },
      ended: (reason) => this.#lost(reason),
      debug: this.#tell,
    }
    if (open) return open(lease.carrierUrl, this.#traffic, events, signal)
    return openCarrier(
      (attach, signal) =>
        openWebSocket({ url: lease.carrierUrl, capability: capability(), options }, attach, signal),
      this.#traffic,
      events,
      signal,
    )
  }

  async #serve({ stream, binding }: Activation): Promise<void> {
    // the way works, for however short a time
    this.#backoff.reset()
    const { serveTls, serveRaw } = this.#platform
    if (binding === undefined) {
      if (serveRaw) return serveRaw(stream)
      // no port was asked for
      stream.abort()
      return
    }
    if (serveTls) return serveTls(stream)
    await this.#server.serve({ stream, binding }, this.canonicalUrl)
  }

  #reportRefused(): void {
    const error = this.#refused
    this.#refused = undefined
    if (error) setTimeout(() => this.#report(error))
  }

  #renewed(): void {
    this.#tell({ type: 'lease', change: 'renewed' })
    this.#assess()
    if (this.#status.state === 'online') this.#reportRefused()
    this.#carrier?.fill()
    this.#certificates.refreshWhenOld()
  }

  /** The site had a carrier and has none any more. */
  #lost(reason: SvcError): void {
    if (!this.#carrier || this.#status.state === 'closed') return
    this.#carrier.close()
    this.#carrier = undefined
    this.#approval.stop()
    this.#setOffline()
    if (performance.now() - this.#onlineAt > STABLE_AFTER_MS) this.#backoff.reset()
    if (reason.code === 'relay_unreachable') this.#platform.forgetConnections?.()
    this.#reconnect(reason)
  }

  async #reconnect(cause: SvcError | undefined): Promise<void> {
    const { signal } = this.#run
    for (let reason = cause; !signal.aborted; ) {
      if (reason) {
        if (isLeaseLost(reason)) this.#keeper.drop()
        if (isFatal(reason, this.#timesOnline > 0)) {
          this.#failure = reason
          this.close()
          this.#report(reason)
          return
        }
        await this.#pauseAfter(reason, signal)
        if (signal.aborted) return
      }
      try {
        return await this.#connect(reason === cause && reason?.code === 'relay_unreachable')
      } catch (error) {
        reason = asSvcError(error, 'relay_unreachable', 'reconnecting failed')
      }
    }
  }

  async #pauseAfter(reason: SvcError, signal: AbortSignal): Promise<void> {
    const askedMs = reason.retryAfterMs ?? 0
    const pauseMs = Math.max(this.#backoff.next(), askedMs)
    const waiting = waitingReason(reason)
    if (waiting) this.#status.wait({ reason: waiting, until: Date.now() + pauseMs })
    else this.#setOffline()
    this.#report(reason)
    if (signal.aborted) return
    this.#tell({ type: 'retry', inMs: pauseMs })
    await this.#backoff.pause(pauseMs, signal, askedMs > 0)
  }

  #setOffline(): void {
    this.#status.set(this.#timesOnline === 0 ? 'connecting' : 'reconnecting')
  }

  #statusChanged(): void {
    const { state, waiting } = this.#status
    this.#tell({ type: 'state', state, waiting })
    if (state === 'online') {
      this.#online.resolve()
      this.#reportRefused()
    }
    this.dispatchEvent(new Event('statechange'))
  }

  #report(error: SvcError): void {
    this.#tell({ type: 'error', code: error.code, message: error.message })
    this.dispatchEvent(new SiteErrorEvent(error))
  }
}
