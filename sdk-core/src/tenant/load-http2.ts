// Loads the code of HTTP/2, a separate chunk, while the site is being published.

import type { serveHttp1 } from '../http1/connection.ts'

/** The name of HTTP/2 in ALPN (RFC 9113 §3.2). */
export const HTTP2 = 'h2'

export type ServeHttp = typeof serveHttp1

/**
 * Resolves with undefined when code cannot be loaded, as in a service worker or without a network. HTTP/1.1
 * then serves all visitors.
 */
export async function loadHttp2(): Promise<ServeHttp | undefined> {
  try {
    const late = await import('../http2/connection.ts')
    return late.serveHttp2
  } catch {
    return undefined
  }
}
