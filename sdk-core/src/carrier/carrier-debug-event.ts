// What the `debug` option of `publish` is called with for the carrier.

import type { SvcErrorCode } from '../errors.ts'

export type CarrierDebugEvent =
  /** A WebSocket to the relay opened or closed; `count` are open now, `code` says why one broke. */
  | { type: 'websocket'; change: 'opened' | 'closed'; count: number; code?: SvcErrorCode | undefined }
  /** A visitor's connection began or ended; `count` are being served now. */
  | { type: 'visitor'; change: 'came' | 'left'; count: number }
