// A published site as its tenant sees it.

import type { KnockEvent, KnockingVisitor } from '../access/knock/visitor.ts'
import type { Sharing } from '../access/share-links.ts'
import type { SiteCache } from '../cache/cache-options.ts'
import type { Traffic } from '../carrier/carrier-connection.ts'
import type { CarrierStats } from '../carrier/multiplexed-carrier.ts'
import type { CacheLimits } from '../control/lease.ts'
import type { SiteDomain } from '../domains/options.ts'
import type { SvcError } from '../errors.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import type { Waiting } from './waiting-reason.ts'

/**
 * SiteState is the state of a site.
 * - `connecting`: the site is not online yet
 * - `waiting`: the relay lets no visitor in, for the reason in {@link Site.waiting}
 * - `online`: visitors can connect
 * - `reconnecting`: the site lost its relay, and retries until it succeeds
 * - `closed`: the site has ended for good
 */
export type SiteState = 'connecting' | 'waiting' | 'online' | 'reconnecting' | 'closed'

/**
 * A SiteErrorEvent holds an error of a site. The site continues unless its state is `closed`.
 */
export class SiteErrorEvent extends Event {
  /** True when a listener has read the error. */
  wasRead = false
  readonly #error: SvcError

  constructor(error: SvcError) {
    super('error')
    this.#error = error
  }

  get error(): SvcError {
    this.wasRead = true
    return this.#error
  }
}

/** A SitePressureEvent says that more visitors came than `maxConnections` allows. */
export class SitePressureEvent extends Event {
  /** The number of connections that the SDK closed for others since the last such event. */
  readonly closedForOthers: number
  /** True when every connection is in use. Further visitors wait at the relay, for at most ten seconds. */
  readonly isFull: boolean

  constructor(closedForOthers: number, isFull: boolean) {
    super('pressure')
    this.closedForOthers = closedForOthers
    this.isFull = isFull
  }
}

/** UrlsChange is the detail of a `urlschange` event: the added and removed URLs. */
export interface UrlsChange {
  added: readonly string[]
  removed: readonly string[]
}

/** SiteEventMap maps the types of a site's events. */
export interface SiteEventMap {
  /** The state changed, or the site waits for another reason or until another time. */
  statechange: Event
  /** {@link Site.urls} changed. */
  urlschange: CustomEvent<UrlsChange>
  error: SiteErrorEvent
  /** The SDK closed idle connections for others, or could close none. Dispatched at most once a second. */
  pressure: SitePressureEvent
  /** The relay has stored, renewed or deleted the site's files: see {@link Site.cache}. */
  cachechange: Event
  /** {@link Site.domains} may have changed. */
  domainschange: Event
  /** A visitor waits to be let in, with `access.knock`. */
  knock: KnockEvent
}

/** SiteStats are the figures of a site at one moment. */
export interface SiteStats extends CarrierStats, Traffic {
  connections: ConnectionStats
  /** The number of visitors whose TLS handshake failed, including those who left during it and port scanners. */
  failedVisitors: number
  /** The number of reconnections. */
  reconnects: number
}

/** Site is a published site. It dispatches the events of {@link SiteEventMap}. With the option `access` it can be shared. */
export interface Site extends EventTarget, Partial<Sharing> {
  /**
   * The URL at which visitors find the site, with its friendly hostname or, when the relay did not grant that, its
   * canonical one. It is empty until the relay grants a lease. With several relays it is the URL at the first one, or at another
   * one until the first has granted a lease.
   */
  readonly url: string
  /** The URLs at which visitors can connect now: one for each relay where the site is online, named relays first. */
  readonly urls: readonly string[]
  /** The URL with the canonical hostname, which no other identity can ever have on this relay. */
  readonly canonicalUrl: string
  /**
   * A link at the relay's own host that leads to {@link url} while the site is online, and otherwise shows a page that opens the
   * site when it is back. Undefined until the relay grants a lease, and at a relay without such links. The relay sees the path and
   * query that somebody appends.
   */
  readonly shareUrl: string | undefined
  readonly state: SiteState
  /** Why visitors cannot connect, and until when, while the state is `waiting`. */
  readonly waiting: Waiting | undefined
  /** The state of the site's files at the relay. Undefined unless the option `cache` is set. */
  readonly cache: SiteCache | undefined
  /** The limits of the relay's static cache. Undefined while the site has no lease, and at a relay without such a cache. */
  readonly cacheLimits: CacheLimits | undefined
  /** The state of each custom domain. Undefined unless the site has the option `domains`. */
  readonly domains?: readonly SiteDomain[]
  /** The visitors who wait to be let in, oldest first. Undefined unless the site has `access.knock`. */
  readonly knocks?: readonly KnockingVisitor[]
  /** Returns the current figures, and the totals since the site was published. */
  stats(): SiteStats
  /**
   * Removes the site from the relay. Connected visitors get a few seconds for their pending responses. Never
   * rejects.
   */
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
