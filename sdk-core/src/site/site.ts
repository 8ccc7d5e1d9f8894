// A published site as its owner sees it.

import type { Traffic } from '../carrier/carrier-socket.ts'
import type { CarrierStats } from '../carrier/websocket-carrier.ts'
import type { SvcError } from '../errors.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import type { Waiting } from './waiting-reason.ts'

/**
 * - `connecting`: on the way to being online for the first time
 * - `waiting`: the relay lets no visitor in, for the reason in {@link Site.waiting}
 * - `online`: visitors can come
 * - `reconnecting`: the relay was lost; the site looks for it for as long as it takes
 * - `closed`: it is over
 */
export type SiteState = 'connecting' | 'waiting' | 'online' | 'reconnecting' | 'closed'

/** What went wrong while the site lived; it goes on unless its state is `closed`. */
export class SiteErrorEvent extends Event {
  readonly error: SvcError

  constructor(error: SvcError) {
    super('error')
    this.error = error
  }
}

/** There were as many connections as there may be, and more visitors. */
export class SitePressureEvent extends Event {
  /** Connections that were closed for others since the last such event. */
  readonly closedForOthers: number
  /** Every connection is in use: visitors wait at the relay, for ten seconds at most. */
  readonly isFull: boolean

  constructor(closedForOthers: number, isFull: boolean) {
    super('pressure')
    this.closedForOthers = closedForOthers
    this.isFull = isFull
  }
}

/** SiteEventMap has the events of a site by their type. */
export interface SiteEventMap {
  /** The state is another, or the site waits for another reason or until another time. */
  statechange: Event
  error: SiteErrorEvent
  /** Idle connections were closed for others, or none could be. Told once a second at most. */
  pressure: SitePressureEvent
}

/** SiteStats are the figures of a site at one moment. */
export interface SiteStats extends CarrierStats, Traffic {
  connections: ConnectionStats
  /** How often the site came online again. */
  reconnects: number
}

/** Site is a published site. It dispatches the events of {@link SiteEventMap}. */
export interface Site extends EventTarget {
  /**
   * Where visitors find it: by the friendly name or, when that was not granted, by the canonical one. Empty until the
   * relay granted it.
   */
  readonly url: string
  /** Bound to the identity: nobody else can ever have it on this relay. */
  readonly canonicalUrl: string
  readonly state: SiteState
  /** Why visitors cannot come, and until when, while the state is `waiting`. */
  readonly waiting: Waiting | undefined
  /** What there is at this moment, and what there was in all. */
  stats(): SiteStats
  /** Takes the site off the relay. Visitors who are here get a few seconds for the response that they wait for. */
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
