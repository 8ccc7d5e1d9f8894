// The life of a published site: connecting, online, reconnecting for as long as it takes, closed.

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
import { abortError, asSvcError, SvcError, type SvcErrorCode } from './errors.ts'
import type { KeyIdentity } from './identity/key.ts'
import { CLOSE_GRACE_MS, STABLE_AFTER_MS } from './limits.ts'
import type { SiteOptions } from './options.ts'
import type { DatagramCarrier, DatagramStats, Platform, SiteCarrier } from './platform.ts'
import { SiteErrorEvent, type SiteState, type SiteStats } from './site.ts'
import { CertificateSource } from './tenant/certificate.ts'
import { TenantServer } from './tenant/server.ts'

/** The lease is not ours any more: there is nothing to renew or to give up. */
const LEASE_LOST: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>([
  'lease_ended',
  'lease_replaced',
  'stream_rejected',
])

/** Trying again cannot help: someone has to act first. */
const FATAL: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>([
  'lease_replaced',
  'incompatible_relay',
  'siwe_mismatch',
  'alternate_gateway',
  'hostname_conflict',
  'ip_banned',
  'invalid_request',
  'invalid_address',
])

export class PublishedSite extends EventTarget {
  #platform: Platform
  #portSuffix: string
  #keeper: LeaseKeeper
  #certificates: CertificateSource
  #server: TenantServer
  #backoff = new Backoff()
  #state: SiteState = 'connecting'
  #urls = { url: '', canonicalUrl: '' }
  #tcpAddress: string | undefined
  #udpAddress: string | undefined
  readonly #relay: URL
  #datagrams: DatagramCarrier | undefined
  #carrier: SiteCarrier | undefined
  #traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  #timesOnline = 0
  #onlineAt = 0
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
    return this.#urls.url
  }

  get canonicalUrl(): string {
    return this.#urls.canonicalUrl
  }

  get tcpAddress(): string | undefined {
    return this.#tcpAddress
  }

  get udpAddress(): string | undefined {
    return this.#udpAddress
  }

  datagramStats(): DatagramStats | undefined {
    return this.#datagrams?.stats
  }

  get state(): SiteState {
    return this.#state
  }

  /** Comes online once, or rejects and is closed. */
  async start(): Promise<void> {
    try {
      await this.#connectFirst()
    } catch (error) {
      await this.close()
      throw asSvcError(error, 'relay_unreachable', 'the site could not be published')
    }
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
  }

  /** The page goes away, perhaps to come back from the back/forward cache. */
  suspend(): void {
    this.#setState('reconnecting')
    this.#stop()
    this.#release(true)
  }

  /** The page is back. */
  resume(): void {
    if (this.#state === 'closed' || !this.#run.signal.aborted) return
    this.#run = new AbortController()
    this.#reconnect(undefined)
  }

  /** Those who are here finish first: the relay ends their connections with the lease. */
  async #close(): Promise<void> {
    this.#setState('closed')
    this.#run.abort()
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
    this.#urls = this.#urlsOf(lease)
    this.#tcpAddress = lease.tcpAddress
    this.#udpAddress = lease.udpAddress
    await Promise.all([this.#certificates.ensure(signal), this.#server.ready()])
    await this.#openDatagrams(signal)
    const carrier = await this.#openCarrier(lease, signal)
    if (signal.aborted || carrier.isClosed) {
      carrier.close()
      throw signal.aborted
        ? abortError(signal)
        : new SvcError('relay_unreachable', 'the carrier ended at once')
    }
    this.#carrier = carrier
    this.#onlineAt = Date.now()
    this.#timesOnline += 1
    this.#setState('online')
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
      traffic: () => this.#keeper.touch(),
      stale: () => this.#keeper.renewNow(),
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

  /** The first time as later: a relay that only asks to wait is waited for. */
  async #connectFirst(): Promise<void> {
    const { signal } = this.#run
    for (;;) {
      try {
        return await this.#connect(false)
      } catch (error) {
        const isAsked = error instanceof SvcError && error.code === 'rate_limited'
        if (!isAsked || error.retryAfterMs === undefined) throw error
        this.#report(error)
        await this.#pause(error.retryAfterMs, signal)
        if (signal.aborted) throw abortError(signal)
      }
    }
  }

  #renewed(): void {
    this.#tell({ type: 'lease', change: 'renewed' })
    this.#carrier?.fill()
    this.#certificates.refreshWhenOld()
  }

  /** The site was online and is not any more. */
  #lost(reason: SvcError): void {
    if (this.#state !== 'online') return
    this.#carrier?.close()
    this.#carrier = undefined
    this.#setState('reconnecting')
    if (Date.now() - this.#onlineAt > STABLE_AFTER_MS) this.#backoff.reset()
    if (reason.code === 'relay_unreachable') this.#platform.forgetConnections?.()
    this.#reconnect(reason)
  }

  async #reconnect(cause: SvcError | undefined): Promise<void> {
    const { signal } = this.#run
    for (let reason = cause; !signal.aborted; ) {
      if (reason) {
        if (LEASE_LOST.has(reason.code)) this.#keeper.drop()
        if (FATAL.has(reason.code)) this.close()
        this.#report(reason)
        if (signal.aborted) return
        await this.#pause(reason.retryAfterMs ?? 0, signal)
        if (signal.aborted) return
      }
      try {
        return await this.#connect(reason === cause && reason?.code === 'relay_unreachable')
      } catch (error) {
        reason = asSvcError(error, 'relay_unreachable', 'reconnecting failed')
      }
    }
  }

  /** @param askedMs what the relay asked for (`Retry-After`) */
  async #pause(askedMs: number, signal: AbortSignal): Promise<void> {
    const pauseMs = Math.max(this.#backoff.next(), askedMs)
    this.#tell({ type: 'retry', inMs: pauseMs })
    await this.#backoff.pause(pauseMs, signal, askedMs > 0)
  }

  #urlsOf({ hostname, canonicalHostname }: Registration): { url: string; canonicalUrl: string } {
    const canonicalUrl = `https://${canonicalHostname}${this.#portSuffix}`
    return { url: hostname === '' ? canonicalUrl : `https://${hostname}${this.#portSuffix}`, canonicalUrl }
  }

  #setState(state: SiteState): void {
    if (state === this.#state || this.#state === 'closed') return
    this.#state = state
    this.#tell({ type: 'state', state })
    this.dispatchEvent(new Event('statechange'))
  }

  #report(error: SvcError): void {
    this.#tell({ type: 'error', code: error.code, message: error.message })
    this.dispatchEvent(new SiteErrorEvent(error))
  }
}
