// A published site as its tenant sees it.

import type { SiteCache } from '../cache/cache-options.ts'
import type { CacheLimits } from '../control/lease.ts'
import { type FetchHandler, running } from '../exchange/fetch-handler.ts'
import type { KeyIdentity } from '../identity/key.ts'
import type { DatagramStats, Platform } from '../platform.ts'
import { SiteEvents } from './events.ts'
import { Lifecycle } from './lifecycle.ts'
import type { NamedSite } from './options.ts'
import type { SiteState, SiteStats } from './site.ts'
import { SiteConnection } from './site-connection.ts'
import type { Waiting } from './waiting-reason.ts'

export class PublishedSite extends EventTarget {
  #fetch: FetchHandler
  #connection: SiteConnection
  #lifecycle: Lifecycle<SiteConnection>

  constructor(platform: Platform, options: NamedSite, identity: KeyIdentity) {
    super()
    this.#fetch = options.fetch
    const events = new SiteEvents(this, options.debug)
    this.#lifecycle = new Lifecycle(
      events,
      (site) => new SiteConnection(platform, options, identity, events, site),
    )
    this.#connection = this.#lifecycle.connection
  }

  get url(): string {
    return this.#connection.addresses.url
  }

  get urls(): readonly string[] {
    return this.#lifecycle.isOnline ? [this.url] : []
  }

  get canonicalUrl(): string {
    return this.#connection.addresses.canonicalUrl
  }

  get shareUrl(): string | undefined {
    return this.#connection.addresses.shareUrl
  }

  get tcpAddress(): string | undefined {
    return this.#connection.addresses.tcpAddress
  }

  get udpAddress(): string | undefined {
    return this.#connection.addresses.udpAddress
  }

  get cache(): SiteCache | undefined {
    return this.#connection.cache
  }

  get cacheLimits(): CacheLimits | undefined {
    return this.#connection.lease?.cacheLimits
  }

  get relayRelease(): string | undefined {
    return this.#connection.lease?.release
  }

  get state(): SiteState {
    return this.#lifecycle.status.state
  }

  get waiting(): Waiting | undefined {
    return this.#lifecycle.status.waiting
  }

  /** Aborted when the site has ended. */
  get gone(): AbortSignal {
    return this.#lifecycle.gone
  }

  /** Resolves when the site is online for the first time. Rejects, with the site closed, when that fails. */
  start(): Promise<void> {
    return this.#lifecycle.start()
  }

  stats(): SiteStats {
    return { ...this.#connection.stats, reconnects: this.#lifecycle.reconnects }
  }

  datagramStats(): DatagramStats | undefined {
    return this.#connection.carriers.datagramStats
  }

  /** Inside a handler it does not wait for the end, which needs the handler's own response. */
  async close(): Promise<void> {
    const closing = this.#lifecycle.close()
    if (running.handler !== this.#fetch) await closing
  }

  /** Checks the connection or reconnects at once, because the network is back or the page is visible again. */
  wake(): void {
    this.#lifecycle.wake()
    this.#connection.wake()
  }

  /** Disconnects because the page goes away; it may come back from the back/forward cache. */
  suspend(): void {
    this.#lifecycle.suspend()
  }

  /** Connects again because the page is back. */
  resume(): void {
    this.#lifecycle.resume()
  }
}
