// What HTTP is served with on a connection, in any version.

import type { ServedAuthority } from '../semantics/request-target.ts'
import type { FetchHandler } from './fetch-handler.ts'

/**
 * What happens on a connection:
 * - `beginning`: a TLS handshake or the head of a request is on its way
 * - `idle`: nothing is on its way, before the first request or behind the last
 * - `busy`: a request, its response, a WebSocket, or a protocol that nobody looks into
 */
export type ConnectionActivity = 'beginning' | 'idle' | 'busy'

export interface HttpOptions extends ServedAuthority {
  fetch: FetchHandler
  /** Told of each change, and now and then of none. */
  activity?(activity: ConnectionActivity): void
  /** Aborted when the site closes: what is on is finished, and nothing follows. */
  closing?: AbortSignal | undefined
  /** The handler failed: it threw, gave no usable response, or its body broke off. The visitor learns no details. */
  onError(error: unknown, request: Request): void
}
