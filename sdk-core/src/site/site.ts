// A published site as its tenant sees it.

import type { SiteCache } from '../cache/cache-options.ts'
import type { Traffic } from '../carrier/carrier-connection.ts'
import type { CarrierStats } from '../carrier/multiplexed-carrier.ts'
import type { CacheLimits } from '../control/lease.ts'
import type { SvcError } from '../errors.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import type { Waiting } from './waiting-reason.ts'

/**
 * SiteState says how far a site is.
 * - `connecting`: the site is not online yet
 * - `waiting`: the relay lets no visitor in, for the reason in {@link Site.waiting}
 * - `online`: visitors can come
 * - `reconnecting`: the site lost its relay, and tries to reach it until it succeeds
 * - `closed`: the site has ended, and does not come back
 */
export type SiteState = 'connecting' | 'waiting' | 'online' | 'reconnecting' | 'closed'

/**
 * A SiteErrorEvent holds an error that occurred while the site lived. The site goes on unless its state is `closed`.
 */
export class SiteErrorEvent extends Event {
  /** A listener has looked at the error. */
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
  /** Every connection is in use. Further visitors wait at the relay, for ten seconds at most. */
  readonly isFull: boolean

  constructor(closedForOthers: number, isFull: boolean) {
    super('pressure')
    this.closedForOthers = closedForOthers
    this.isFull = isFull
  }
}

/** UrlsChange is the detail of an `urlschange` event: which URLs came, and which went. */
export interface UrlsChange {
  added: readonly string[]
  removed: readonly string[]
}

/** SiteEventMap has the events of a site by their type. */
export interface SiteEventMap {
  /** The state changed, or the site waits for another reason or until another time. */
  statechange: Event
  /** Visitors can come by another URL, or cannot any more by one of {@link Site.urls}. */
  urlschange: CustomEvent<UrlsChange>
  error: SiteErrorEvent
  /** The SDK closed idle connections for others, or could close none. Dispatched once a second at most. */
  pressure: SitePressureEvent
  /** The relay has stored, renewed or deleted the site's files: {@link Site.cache} says what it has. */
  cachechange: Event
}

/** SiteStats are the figures of a site at one moment. */
export interface SiteStats extends CarrierStats, Traffic {
  connections: ConnectionStats
  /** The number of visitors whose TLS handshake failed, with those who left in it and those who only looked for open ports. */
  failedVisitors: number
  /** The number of times that the site came online again. */
  reconnects: number
}

/** Site is a published site. It dispatches the events of {@link SiteEventMap}. */
export interface Site extends EventTarget {
  /**
   * The URL at which visitors find the site, with its friendly hostname or, when the relay did not grant that, its
   * canonical one. It is empty until the relay grants a lease. With several relays it is that of the first one, or of another
   * one as long as the first has granted no lease.
   */
  readonly url: string
  /** The URLs at which visitors can come now: one for each relay where the site is online, those of named relays first. */
  readonly urls: readonly string[]
  /** The URL with the canonical hostname, which no other identity can ever have on this relay. */
  readonly canonicalUrl: string
  readonly state: SiteState
  /** The reason for which visitors cannot come, and until when, while the state is `waiting`. */
  readonly waiting: Waiting | undefined
  /** The state of the site's files at the relay. Undefined unless the option `cache` is set. */
  readonly cache: SiteCache | undefined
  /** The bounds of the relay's static cache. Undefined while the site has no lease, and at a relay that has no such cache. */
  readonly cacheLimits: CacheLimits | undefined
  /** Returns the figures of this moment, and the totals since the site was published. */
  stats(): SiteStats
  /**
   * Takes the site off the relay. Connected visitors get a few seconds for the response that they wait for. Never
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
