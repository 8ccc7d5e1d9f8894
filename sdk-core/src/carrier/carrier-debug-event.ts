// The events of the carrier that the option `debug` of `publish` is called with.

import type { SvcErrorCode } from '../errors.ts'

export type CarrierDebugEvent =
  /** A WebSocket to the relay opened or closed. `count` are open now, and `code` says why one broke. */
  | { type: 'websocket'; change: 'opened' | 'closed'; count: number; code?: SvcErrorCode | undefined }
  /** A visitor's connection began or ended. The SDK serves `count` now. */
  | { type: 'visitor'; change: 'came' | 'left'; count: number }
