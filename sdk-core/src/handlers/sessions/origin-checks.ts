// What a browser says of a request: whether it shows the answer as a page, and whether a page of another origin asks.

/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns whether a browser will show the answer as a page. */
export function isNavigation({ headers }: Pick<Request, 'headers'>): boolean {
  const mode = headers.get('sec-fetch-mode')
  return mode === null ? /text\/html/i.test(headers.get('accept') ?? '') : mode === 'navigate'
}

/** Returns whether, by the browser's fields, a page of another origin made the request. A sibling hostname is another origin. */
export function isForeign(request: Request, origin: string): boolean {
  const from = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (from !== null && from !== 'null') return from !== origin
  // A page that sends no referrer has the origin `null` even in its own forms.
  return site === null ? from === 'null' : site !== 'same-origin' && site !== 'none'
}

/**
 * Returns whether a page of another origin makes the visitor's browser act here (CSRF). A cookie with `SameSite=Lax` is also sent from
 * sibling hostnames, and a WebSocket handshake is not subject to CORS.
 */
export function isForged(request: Request, origin: string): boolean {
  const changes = !SAFE.has(request.method) || request.headers.has('upgrade')
  return changes && isForeign(request, origin)
}
