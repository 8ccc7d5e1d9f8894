// A reverse proxy to a server in the page's network (RFC 9110 §7.6).

import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { sendsStreams } from '../exchange/fetch-request.ts'
import { lossSignal } from '../exchange/loss-signal.ts'
import { endToEnd } from '../semantics/end-to-end-fields.ts'
import type { Field } from '../semantics/fields.ts'
import { fieldsForTarget, fieldsForVisitor, type OriginView } from '../semantics/origin-view.ts'
import { lineOrPage } from './line-or-page.ts'
import { withHeaders } from './response-headers.ts'

/** ProxyOptions are the options of `proxy`. */
export interface ProxyOptions {
  /**
   * The fields to set on each request to the target, in place of the visitor's, such as a key for the target or
   * `X-Forwarded-Host`.
   * @default none
   */
  headers?: ConstructorParameters<typeof Headers>[0] | undefined
}

/**
 * Bodies of up to this many bytes, by their Content-Length, are collected first: Chromium sends a stream only over
 * HTTP/2, which a server on this machine rarely has. Longer ones are streamed.
 */
export const COLLECT_BYTES: number = 1024 * 1024

/** Fields of a request that `fetch` sets itself, with the codings that it can decode. */
const REQUEST_ONLY = ['accept-encoding', 'content-length', 'expect', 'host']
/** A Response with one of these statuses cannot have a body, not even an empty one (Fetch standard, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Returns a handler that forwards requests to `target` with `fetch`, without the page's own cookies. In a page the
 * target must allow that (CORS). If it cannot be reached, the visitor gets 502.
 * @param target the URL below which paths are requested
 */
export function proxy(target: string | URL, options: ProxyOptions = {}): FetchHandler {
  const base = parseTarget(target)
  return async (request) => {
    // RFC 9110 §9.3.1 allows content here, but `fetch` cannot send it, and omitting it would change the request.
    if (request.body && /^(?:get|head)$/i.test(request.method))
      return lineOrPage(request, 501, 'This site cannot pass on a GET or HEAD with content')
    // `fetch` sets Host, so the target sees its own address.
    const view = { visited: new URL(request.url), believed: base, address: base }
    const init = await makeInit(request, options, view)
    let response: Response
    try {
      response = await fetch(urlBelow(base, request.url), init)
    } catch {
      return lineOrPage(request, 502, 'The server behind this site did not answer')
    }
    // A browser hides the target of a redirect from a page.
    if (response.type === 'opaqueredirect')
      return lineOrPage(request, 502, 'The server behind this site redirects')
    return passBack(response, view)
  }
}

function parseTarget(target: string | URL): URL {
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new SvcError(
      'invalid_option',
      'the target of a proxy is an http(s) URL without credentials, query or fragment',
    )
  return url
}

/** Sets only the path and query, so that a path such as `//other.example` stays a path. */
function urlBelow(base: URL, requested: string): URL {
  const { pathname, search } = new URL(requested)
  const url = new URL(base)
  url.pathname = base.pathname.replace(/\/$/, '') + pathname
  url.search = search
  return url
}

async function makeInit(request: Request, options: ProxyOptions, view: OriginView): Promise<RequestInit> {
  const headers = withFields(fieldsForTarget(endToEnd(request.headers, REQUEST_ONLY), view))
  new Headers(options.headers).forEach((value, name) => {
    headers.set(name, value)
  })
  const init: RequestInit = {
    method: request.method,
    headers,
    signal: lossSignal(request),
    redirect: 'manual',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
  }
  if (!request.body) return init
  const length = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (length <= COLLECT_BYTES) return { ...init, body: await request.arrayBuffer() }
  if (!sendsStreams()) return { ...init, body: await request.blob() }
  return Object.assign(init, { body: request.body, duplex: 'half' })
}

function withFields(fields: Field[]): Headers {
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  return headers
}

function passBack(response: Response, view: OriginView): Response {
  // The content was decoded. Across origins, a page may see Content-Length but not the Content-Encoding that it belongs to.
  const isRewritten = response.type === 'cors' || response.headers.has('content-encoding')
  const dropped = isRewritten ? ['content-encoding', 'content-length'] : []
  const headers = withFields(fieldsForVisitor(endToEnd(response.headers, dropped), view))
  const { status, statusText } = response
  const body = WITHOUT_BODY.has(status) ? null : response.body
  return withHeaders(new Response(body, { status, statusText }), headers)
}
