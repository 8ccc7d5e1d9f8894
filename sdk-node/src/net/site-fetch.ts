// `fetch` of a site: it acts as a visitor, resolves names under `localhost`, and trusts the relay's CA.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { relayTransport } from './relay-transport.ts'

/** The most redirects that `site.fetch` follows, as in the Fetch standard. */
const REDIRECTS_MAX = 20
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])
/** Fields that a redirect to another origin drops. */
const OF_ONE_ORIGIN = ['authorization', 'proxy-authorization', 'cookie', 'host']
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The additional member of a site in Node. */
export interface SiteFetch {
  /**
   * Sends a request to the site as a visitor does, over TLS through the relay. Unlike Node's `fetch`,
   * it resolves names under `localhost` on every system, and trusts the option `ca`.
   * @param pathOrUrl resolved against the site's `url`
   * @param init as for `fetch`; the body is read before the request is sent
   * @throws TypeError as `fetch` does; `cause` has the error of a failed connection
   */
  fetch(pathOrUrl: string | URL, init?: RequestInit): Promise<Response>
}

/** Gives the site its `fetch`. */
export function withFetch<S extends { readonly url: string }>(
  site: S,
  ca: string | Buffer | undefined,
  proxy: string | URL | undefined,
): S & SiteFetch {
  return Object.assign(site, {
    fetch: (pathOrUrl: string | URL, init?: RequestInit) =>
      follow(new Request(new URL(pathOrUrl, site.url || undefined), init), { ca, proxy }),
  })
}

/**
 * Sends a request to a site, as `fetch` of that site does.
 * @throws TypeError as `fetch` does
 */
export function visitorFetch(url: URL, init: RequestInit, ca: string | undefined): Promise<Response> {
  return follow(new Request(url, init), { ca, proxy: undefined })
}

interface Trust {
  ca: string | Buffer | undefined
  proxy: string | URL | undefined
}

async function follow(first: Request, trust: Trust): Promise<Response> {
  const body = first.body && Buffer.from(await first.arrayBuffer())
  let asked: Asked = { url: new URL(first.url), method: first.method, headers: first.headers, body }
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await send(asked, first.signal, trust)
    const { statusCode: status = 0, headers } = answer
    const isRedirect = REDIRECTS.has(status) && headers.location !== undefined
    if (!isRedirect || first.redirect === 'manual') return responseOf(answer, asked, redirects > 0)
    answer.destroy()
    if (first.redirect === 'error') throw new TypeError(`${asked.url.href} redirects`)
    asked = redirected(asked, status, new URL(headers.location!, asked.url))
  }
  throw new TypeError(`${first.url} redirects more than ${REDIRECTS_MAX} times`)
}

interface Asked {
  url: URL
  method: string
  headers: Headers
  body: Buffer | null
}

/** Returns the next request, by the Fetch standard. */
function redirected({ url: from, method, headers, body }: Asked, status: number, url: URL): Asked {
  const next = new Headers(headers)
  if (url.origin !== from.origin) for (const field of OF_ONE_ORIGIN) next.delete(field)
  const isGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (!isGet) return { url, method, headers: next, body }
  for (const field of ['content-type', 'content-encoding', 'content-language']) next.delete(field)
  return { url, method: 'GET', headers: next, body: null }
}

async function send(
  { url, method, headers, body }: Asked,
  signal: AbortSignal,
  { ca, proxy }: Trust,
): Promise<IncomingMessage> {
  if (url.protocol !== 'https:') throw new TypeError(`a site has https: URLs, not ${url.href}`)
  signal.throwIfAborted()
  const agent = relayTransport(ca, proxy).webSockets
  const asked = httpsRequest(url, { method, headers: Object.fromEntries(headers), signal, agent })
  asked.end(body ?? undefined)
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    // From here on, the body reports the error.
    asked.on('error', () => {})
    return answer
  } catch (cause) {
    signal.throwIfAborted()
    throw new TypeError('fetch failed', { cause })
  }
}

function responseOf(answer: IncomingMessage, { url, method }: Asked, redirected: boolean): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = answer
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  const isBodiless = method === 'HEAD' || BODILESS.has(status)
  if (isBodiless) answer.resume()
  const body = isBodiless ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>)
  const response = new Response(body, { status, statusText, headers })
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } })
}
