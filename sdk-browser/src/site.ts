// A published site and its life: connecting, online, reconnecting for as long as it takes, closed.

import { Backoff } from './carrier/backoff.ts'
import { type Carrier, openCarrier } from './carrier/carrier.ts'
import { RelayClient } from './control/client.ts'
import { LeaseKeeper } from './control/lease-keeper.ts'
import type { Registration } from './control/registration.ts'
import { abortError, asSvcError, SvcError, type SvcErrorCode } from './errors.ts'
import type { KeyIdentity } from './identity/key.ts'
import { STABLE_AFTER_MS } from './limits.ts'
import type { SiteOptions } from './options.ts'
import type { Platform } from './platform.ts'
import { CertificateSource } from './tenant/certificate.ts'
import { TenantServer } from './tenant/server.ts'

export type SiteState = 'connecting' | 'online' | 'reconnecting' | 'closed'

/** What went wrong while the site lived; it goes on unless its state is `closed`. */
export class SiteErrorEvent extends Event {
  readonly error: SvcError

  constructor(error: SvcError) {
    super('error')
    this.error = error
  }
}

export interface SiteEventMap {
  statechange: Event
  error: SiteErrorEvent
}

export interface Site extends EventTarget {
  /** Where visitors find it: by the friendly name or, when that was not granted, by the canonical one. */
  readonly url: string
  /** Bound to the identity: nobody else can ever have it on this relay. */
  readonly canonicalUrl: string
  readonly state: SiteState
  /** Takes the site off the relay. Open connections end. */
  close(): Promise<void>
  addEventListener<K extends keyof SiteEventMap>(
    type: K,
    listener: (event: SiteEventMap[K]) => void,
    options?: AddEventListenerOptions | boolean,
  ): void
  removeEventListener<K extends keyof SiteEventMap>(
    type: K,
    listener: (event: SiteEventMap[K]) => void,
    options?: EventListenerOptions | boolean,
  ): void
}

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
  #carrier: Carrier | undefined
  #onlineAt = 0
  /** Aborted when the site closes or is suspended; what runs ends with it. */
  #run = new AbortController()

  constructor(platform: Platform, options: SiteOptions, identity: KeyIdentity) {
    super()
    this.#platform = platform
    const client = new RelayClient(options.relay, platform.fetch)
    const onError = (error: SvcError): void => this.#report(error)
    const { name, ttlS, allowCanonicalFallback, metadata, fetch, onSecret } = options
    const keeper = new LeaseKeeper(
      client,
      { name, identity, ttlS, allowCanonicalFallback, metadata },
      { renewed: () => this.#renewed(), failed: onError, gone: (error) => this.#lost(error) },
    )
    const certificates = new CertificateSource(client, onError)
    this.#server = new TenantServer({ client, keeper, certificates, fetch, onSecret, onError })
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

  get state(): SiteState {
    return this.#state
  }

  /** Comes online once, or rejects and is closed. */
  async start(): Promise<void> {
    try {
      await this.#connect()
    } catch (error) {
      await this.close()
      throw asSvcError(error, 'relay_unreachable', 'the site could not be published')
    }
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#setState('closed')
    this.#stop()
    await this.#keeper.release(false)
  }

  /** The network is back, or the page is looked at again: find out, or try again, at once. */
  wake(): void {
    this.#backoff.wake()
    this.#carrier?.probe()
    this.#keeper.touch()
  }

  /** The page goes away, perhaps to come back from the back/forward cache. */
  suspend(): void {
    if (this.#state === 'closed') return
    this.#setState('reconnecting')
    this.#stop()
    this.#keeper.release(true)
  }

  /** The page is back. */
  resume(): void {
    if (this.#state === 'closed' || !this.#run.signal.aborted) return
    this.#run = new AbortController()
    this.#reconnect(undefined)
  }

  #stop(): void {
    this.#run.abort()
    this.#carrier?.close()
    this.#carrier = undefined
  }

  /** Registers or renews, and opens a carrier with a stream ready for visitors. */
  async #connect(): Promise<void> {
    const { signal } = this.#run
    const lease = await this.#keeper.acquire(signal)
    this.#urls = this.#urlsOf(lease)
    await this.#certificates.ensure(signal)
    const carrier = await openCarrier(
      { url: lease.carrierUrl, capability: lease.capability, options: this.#platform.webSocketOptions },
      {
        capability: () => (this.#keeper.lease ?? lease).capability,
        serve: (activation) => this.#server.serve(activation, this.canonicalUrl),
        traffic: () => this.#keeper.touch(),
        stale: () => this.#keeper.renewNow(),
        ended: (reason) => this.#lost(reason),
      },
      signal,
    )
    if (signal.aborted || carrier.isClosed) {
      carrier.close()
      throw signal.aborted
        ? abortError(signal)
        : new SvcError('relay_unreachable', 'the carrier ended at once')
    }
    this.#carrier = carrier
    this.#onlineAt = Date.now()
    this.#setState('online')
  }

  #renewed(): void {
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
    this.#reconnect(reason)
  }

  async #reconnect(cause: SvcError | undefined): Promise<void> {
    const { signal } = this.#run
    for (let reason = cause; !signal.aborted; ) {
      if (reason) {
        if (LEASE_LOST.has(reason.code)) this.#keeper.drop()
        if (FATAL.has(reason.code)) this.close()
        this.#report(reason)
        await this.#backoff.pause(Math.max(this.#backoff.next(), reason.retryAfterMs ?? 0), signal)
        if (signal.aborted) return
      }
      try {
        return await this.#connect()
      } catch (error) {
        reason = asSvcError(error, 'relay_unreachable', 'reconnecting failed')
      }
    }
  }

  #urlsOf({ hostname, canonicalHostname }: Registration): { url: string; canonicalUrl: string } {
    const canonicalUrl = `https://${canonicalHostname}${this.#portSuffix}`
    return { url: hostname === '' ? canonicalUrl : `https://${hostname}${this.#portSuffix}`, canonicalUrl }
  }

  #setState(state: SiteState): void {
    if (state === this.#state) return
    this.#state = state
    this.dispatchEvent(new Event('statechange'))
  }

  #report(error: SvcError): void {
    this.dispatchEvent(new SiteErrorEvent(error))
  }
}
