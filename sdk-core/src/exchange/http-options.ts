// The options with which HTTP, in any version, is served on a connection.

import type { ServedAuthority } from '../semantics/request-target.ts'
import type { DirectlyHandled } from './direct.ts'

/**
 * ConnectionActivity says what happens on a connection.
 * - `beginning`: a TLS handshake or the head of a request is under way
 * - `idle`: nothing is under way, before the first request or after the last
 * - `busy`: a request, its response, a WebSocket, or a protocol into which the SDK does not look
 */
export type ConnectionActivity = 'beginning' | 'idle' | 'busy'

export interface HttpOptions extends ServedAuthority {
  fetch: DirectlyHandled
  /** Names in lower case of claimed fields that the handler gets all the same. */
  allowFields?: readonly string[] | undefined
  /** The value of Strict-Transport-Security (RFC 6797) in responses whose handler sets none. @default none */
  hsts?: string | undefined
  /** Called with each change, and at times without one. */
  activity?(activity: ConnectionActivity): void
  /** Aborted when the site closes: the current exchange is finished, and none follows. */
  closing?: AbortSignal | undefined
  /**
   * Called when the handler failed: it threw, returned no usable response, or its body broke off. The visitor learns no
   * details.
   */
  onError(error: unknown): void
}
