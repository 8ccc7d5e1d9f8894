// The events of the carrier that the option `debug` of `publish` is called with.

import type { SvcErrorCode } from '../errors.ts'

/** ConnectionKind says what the connections of a multiplexed carrier are: WebSockets, or native connections with yamux. */
export type ConnectionKind = 'websocket' | 'native'

export type CarrierDebugEvent =
  /** A connection to the relay opened or closed. `count` is the number open now; `code` says why one broke. */
  | { type: ConnectionKind; change: 'opened' | 'closed'; count: number; code?: SvcErrorCode | undefined }
  /** A visitor's connection began or ended. `count` is the number that the SDK serves now. */
  | { type: 'visitor'; change: 'came' | 'left'; count: number }
