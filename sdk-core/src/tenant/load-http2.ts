// HTTP/2 comes in a file of its own, which is loaded while the site is being published.

import type { serveHttp } from '../http1/connection.ts'

/** As ALPN calls it (RFC 9113 §3.2). */
export const HTTP2 = 'h2'

export type ServeHttp = typeof serveHttp

/** Undefined where code cannot be loaded late, as in a service worker, or the network is gone: HTTP/1.1 does as well. */
export async function loadHttp2(): Promise<ServeHttp | undefined> {
  try {
    return (await import('../http2/connection.ts')).serveHttp2
  } catch {
    return undefined
  }
}
