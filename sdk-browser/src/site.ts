// A published site as its owner sees it.

import type { CarrierStats } from './carrier/carrier.ts'
import type { Traffic } from './carrier/link.ts'
import type { SvcError } from './errors.ts'
import type { Waiting } from './waiting.ts'

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

export interface SiteEventMap {
  /** The state is another, or the site waits for another reason or until another time. */
  statechange: Event
  error: SiteErrorEvent
}

export interface SiteStats extends CarrierStats, Traffic {
  /** How often the site came online again. */
  reconnects: number
}

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
