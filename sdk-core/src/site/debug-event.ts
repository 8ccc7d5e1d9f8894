// What the option `debug` of `publish` is called with. Nothing here is secret, and nothing is a visitor's.

import type { CarrierDebugEvent } from '../carrier/carrier-debug-event.ts'
import type { SvcErrorCode } from '../errors.ts'
import type { SiteState } from './site.ts'
import type { Waiting } from './waiting-reason.ts'

/** DebugEvent is what the option `debug` of `publish` is called with. No event holds a secret or a visitor's data. */
export type DebugEvent =
  | CarrierDebugEvent
  | { type: 'state'; state: SiteState; waiting?: Waiting | undefined }
  | { type: 'lease'; change: 'registered' | 'renewed' | 'released' }
  /** What the site's `pressure` event tells as well. */
  | { type: 'pressure'; closedForOthers: number; isFull: boolean }
  /** What the site's `error` event tells as well. */
  | { type: 'error'; code: SvcErrorCode; message: string }
  /** The next attempt to connect comes after this pause. */
  | { type: 'retry'; inMs: number }
