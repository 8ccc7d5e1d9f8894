// The events for the option `debug` of `publish`. None contains a secret or a visitor's data.

import type { CarrierDebugEvent } from '../carrier/carrier-debug-event.ts'
import type { SvcErrorCode } from '../errors.ts'
import type { SiteState } from './site.ts'
import type { Waiting } from './waiting-reason.ts'

/** DebugEvent is the argument of the option `debug` of `publish`. No event contains a secret or a visitor's data. */
export type DebugEvent = SiteDebugEvent & {
  /** The origin of the relay that the event is about, for a site at several relays. */
  relay?: string | undefined
}

type SiteDebugEvent =
  | CarrierDebugEvent
  | { type: 'state'; state: SiteState; waiting?: Waiting | undefined }
  | { type: 'lease'; change: 'registered' | 'renewed' | 'released' }
  /**
   * New visitors now see the site's own certificate, until `expiresAt`, in milliseconds since the epoch, or
   * until the next such event.
   */
  | { type: 'certificate'; expiresAt: number }
  /** The relay stores the site's files (`present`) until the time `expiresAt`, RFC 3339, or no longer does. */
  | { type: 'cache'; present: boolean; expiresAt: string | undefined }
  /** The site dispatched a `pressure` event with the same figures. */
  | { type: 'pressure'; closedForOthers: number; isFull: boolean }
  /** The site dispatched an `error` event with the same error. */
  | { type: 'error'; code: SvcErrorCode; message: string }
  /** The SDK will reconnect after `inMs` milliseconds. */
  | { type: 'retry'; inMs: number }
