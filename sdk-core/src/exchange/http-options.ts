// The options for serving HTTP, in any version, on a connection.

import type { ServedAuthority } from '../semantics/request-target.ts'
import type { DirectlyHandled } from './direct.ts'
import type { KnownVisitor } from './fetch-handler.ts'

/**
 * ConnectionActivity is the state of a connection.
 * - `beginning`: a TLS handshake or the head of a request is in progress
 * - `idle`: nothing is in progress, before the first request or after the last
 * - `busy`: a request, its response, a WebSocket, or a protocol that the SDK does not parse
 */
export type ConnectionActivity = 'beginning' | 'idle' | 'busy'

export interface HttpOptions extends ServedAuthority {
  fetch: DirectlyHandled
  /** What the site knows of the visitor. */
  visitor?: KnownVisitor | undefined
  /** Lower-case names of fields that claim who the visitor is and that the handler gets nevertheless. */
  allowFields?: readonly string[] | undefined
  /** The value of Strict-Transport-Security (RFC 6797) in responses whose handler sets none. @default none */
  hsts?: string | undefined
  /** Called with each change, and at times without one. */
  activity?(activity: ConnectionActivity): void
  /** Aborted when the site closes: the current exchange finishes, and no other begins. */
  closing?: AbortSignal | undefined
  /**
   * Called when the handler failed: it threw, returned no usable response, or its body broke off. The visitor learns no
   * details.
   */
  onError(error: unknown): void
}
