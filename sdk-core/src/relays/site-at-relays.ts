// A site at several relays, as its tenant sees it: online while visitors can connect at one of them.

import type { SiteCache } from '../cache/cache-options.ts'
import type { CacheLimits } from '../control/lease.ts'
import type { SvcError } from '../errors.ts'
import type { DatagramStats, Platform } from '../platform.ts'
import { SiteEvents } from '../site/events.ts'
import { type Site, SitePressureEvent, type SiteState, type SiteStats } from '../site/site.ts'
import { SiteStatus } from '../site/status.ts'
import type { Waiting } from '../site/waiting-reason.ts'
import type { PublishAtRelay, RelaysOptions } from './options.ts'
import type { SignerOf } from './relay-list.ts'
import { RelaySites } from './relay-sites.ts'

export class SiteAtRelays extends EventTarget implements Site {
  /** A page has no dedicated ports. */
  readonly tcpAddress: undefined
  readonly udpAddress: undefined
  readonly cache: SiteCache | undefined
  #relays: RelaySites<Site>
  #status = new SiteStatus(() => this.#events.state(this.#status))
  #events: SiteEvents
  /** The site whose URL this one shows. */
  #shown: Site | undefined
  #wasOnline = false
  #gone = new AbortController()

  constructor(platform: Platform, options: RelaysOptions, publish: PublishAtRelay, signerOf: SignerOf) {
    super()
    // The site at each relay calls the option `debug` itself.
    this.#events = new SiteEvents(this, undefined)
    let isFirst = true
    this.#relays = new RelaySites<Site>({
      relays: options.relays,
      discover: options.discover,
      wanted: { tcp: false, udp: false },
      fetch: platform.fetch,
      signerOf,
      publish: (relay, isExplicit, onSite, signal) => {
        const own = isFirst ? platform : (platform.forAnotherRelay?.() ?? platform)
        isFirst = false
        const { debug, cache, invitation, domains } = options
        return publish(own, {
          ...options,
          relay,
          signal,
          onSite,
          debug: debug && ((event) => debug({ ...event, relay: relay.origin })),
          // A relay can read stored files, and use an invitation up; no domain leads to it: only relays that the caller named get them.
          cache: isExplicit ? cache : undefined,
          invitation: isExplicit ? invitation : undefined,
          domains: isExplicit ? domains : undefined,
        })
      },
      begun: (site) => this.#follow(site),
      changed: () => this.#update(),
      failed: (_relay, error) => this.#failed(error),
    })
    this.cache = options.cache && new CacheAtRelays(() => this.#relays.explicitSites)
    this.#relays.ended.then((error) => {
      this.#gone.abort()
      if (error && this.#wasOnline) this.#events.error(error)
    })
  }

  start(): Promise<void> {
    return this.#relays.start()
  }

  /** Aborted when the site has ended. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get url(): string {
    return this.#shown?.url ?? ''
  }

  get canonicalUrl(): string {
    return this.#shown?.canonicalUrl ?? ''
  }

  get shareUrl(): string | undefined {
    return this.#shown?.shareUrl
  }

  get urls(): readonly string[] {
    return this.#relays.sites.flatMap(({ urls }) => urls)
  }

  get state(): SiteState {
    return this.#status.state
  }

  get waiting(): Waiting | undefined {
    return this.#status.waiting
  }

  get cacheLimits(): CacheLimits | undefined {
    return this.#shown?.cacheLimits
  }

  get relayRelease(): undefined {
    return undefined
  }

  datagramStats(): DatagramStats | undefined {
    return undefined
  }

  stats(): SiteStats {
    return statsOf(this.#relays.sites)
  }

  close(): Promise<void> {
    return this.#relays.close()
  }

  wake(): void {
    this.#relays.wake()
  }

  suspend(): void {
    this.#relays.suspend()
  }

  resume(): void {
    this.#relays.resume()
  }

  #follow(site: Site): void {
    site.addEventListener('error', ({ error }) => this.#events.error(error))
    site.addEventListener('cachechange', () => this.dispatchEvent(new Event('cachechange')))
    site.addEventListener('pressure', ({ closedForOthers, isFull }) =>
      this.dispatchEvent(new SitePressureEvent(closedForOthers, isFull)),
    )
  }

  /** Holds errors until `publish` has resolved and the caller can listen. */
  #failed(error: SvcError): void {
    if (this.#wasOnline) this.#events.error(error)
    else this.#events.holdError(error)
  }

  declare addEventListener: Site['addEventListener']
  declare removeEventListener: Site['removeEventListener']

  #update(): void {
    const { explicitSites, sites } = this.#relays
    const named = explicitSites.find(({ url }) => url !== '')
    this.#shown = named ?? sites.find(({ urls }) => urls.length > 0) ?? this.#shown
    this.#events.urls(this.#relays.isClosed ? [] : this.urls)
    const states = sites.map(({ state }) => state)
    if (this.#relays.isClosed) this.#status.set('closed')
    else if (states.includes('online')) {
      this.#wasOnline = true
      this.#status.set('online')
    } else {
      const waiting = sites.find((site) => site.waiting)?.waiting
      if (waiting) this.#status.wait(waiting)
      else this.#status.set(this.#wasOnline ? 'reconnecting' : 'connecting')
    }
  }
}

function statsOf(sites: readonly Site[]): SiteStats {
  const all = sites.map((site) => site.stats())
  const sum = (figure: (stats: SiteStats) => number): number =>
    all.reduce((total, stats) => total + figure(stats), 0)
  return {
    openStreams: sum(({ openStreams }) => openStreams),
    readyStreams: sum(({ readyStreams }) => readyStreams),
    webSockets: sum(({ webSockets }) => webSockets),
    rttMs: all.find(({ rttMs }) => rttMs !== undefined)?.rttMs,
    connections: {
      open: sum(({ connections }) => connections.open),
      idle: sum(({ connections }) => connections.idle),
      max: sum(({ connections }) => connections.max),
      closedForOthers: sum(({ connections }) => connections.closedForOthers),
    },
    failedVisitors: sum(({ failedVisitors }) => failedVisitors),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    reconnects: sum(({ reconnects }) => reconnects),
  }
}

/** Shows the static caches of a site at several relays as one. */
class CacheAtRelays implements SiteCache {
  #sites: () => readonly Site[]

  constructor(sites: () => readonly Site[]) {
    this.#sites = sites
  }

  /** True when one relay stores the files. */
  get present(): boolean {
    return this.#stored !== undefined
  }

  /** The time of the first relay that stores the files. */
  get expires_at(): string | undefined {
    return this.#stored?.expires_at
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#all.map((cache) => cache.refresh()))
  }

  /** Asks every relay, even if one refuses. */
  async remove(): Promise<void> {
    const results = await Promise.allSettled(this.#all.map((cache) => cache.remove()))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  get #all(): SiteCache[] {
    return this.#sites().flatMap(({ cache }) => cache ?? [])
  }

  get #stored(): SiteCache | undefined {
    return this.#all.find(({ present }) => present)
  }
}
