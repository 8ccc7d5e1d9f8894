// The events that the option `debug` of `publish` is called with. None holds a secret or a visitor's data.

import type { CarrierDebugEvent } from '../carrier/carrier-debug-event.ts'
import type { SvcErrorCode } from '../errors.ts'
import type { SiteState } from './site.ts'
import type { Waiting } from './waiting-reason.ts'

/** DebugEvent is what the option `debug` of `publish` is called with. No event holds a secret or a visitor's data. */
export type DebugEvent = SiteDebugEvent & {
  /** The origin of the relay that the event is about, for a site at several relays. */
  relay?: string | undefined
}

type SiteDebugEvent =
  | CarrierDebugEvent
  | { type: 'state'; state: SiteState; waiting?: Waiting | undefined }
  | { type: 'lease'; change: 'registered' | 'renewed' | 'released' }
  /**
   * New visitors see a certificate of the site's own from now on, until `expiresAt`, in milliseconds since the epoch, or
   * until the next such event.
   */
  | { type: 'certificate'; expiresAt: number }
  /** The relay stores the site's files (`present`) until the time `expiresAt`, RFC 3339, or has stopped to. */
  | { type: 'cache'; present: boolean; expiresAt: string | undefined }
  /** The site dispatched a `pressure` event with the same figures. */
  | { type: 'pressure'; closedForOthers: number; isFull: boolean }
  /** The site dispatched an `error` event with the same error. */
  | { type: 'error'; code: SvcErrorCode; message: string }
  /** The SDK will try to connect again after `inMs` milliseconds. */
  | { type: 'retry'; inMs: number }
