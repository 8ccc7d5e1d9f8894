// The relay's one HTTP client: every request that the relay makes is bounded in time, size, redirects and addresses.

import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { AddressRule, type MayDial } from './address-rule.ts'
import { boundInterimResponses } from './interim-responses.ts'
import { OutboundError } from './outbound-error.ts'

/** Time for a whole response to a request of the relay to another server, unless the caller sets another. */
const OUTBOUND_DEADLINE_MS = 10_000
/** Body of such a response. */
export const OUTBOUND_RESPONSE_MAX_BYTES: number = 1024 * 1024

export interface HttpClientOptions {
  /**
   * Origins from the operator's settings, such as `http://127.0.0.1:8545`. They may be at any address, and need no TLS.
   * @default none: every URL must be https and resolve to a public address
   */
  configuredOrigins?: readonly string[]
  /** Certificates, as PEM, that are trusted in place of Node's own. @default Node's */
  ca?: string
  /** Name resolution, in the form of `dns.lookup`. @default `dns.lookup` */
  lookup?: LookupFunction
  /** Says which addresses may be dialled for origins that nobody configured. @default public ones */
  isAllowedAddress?: (address: string) => boolean
}

export interface HttpRequest {
  /** @default 'GET' */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** For the whole exchange: name resolution, redirects and body. @default OUTBOUND_DEADLINE_MS */
  deadlineMs?: number
  /** Bytes that the response's body may have. @default OUTBOUND_RESPONSE_MAX_BYTES */
  maxBytes?: number
  /** Redirects that are followed, of GET and HEAD only. @default 0 */
  maxRedirects?: number
  /**
   * True when the URL comes from the operator's settings: then it may be of a configured origin. A redirect to a
   * configured origin other than that of the URL is never followed.
   * @default false
   */
  isConfigured?: boolean
  /**
   * Says of each address that the rule of addresses admits whether it is dialled, unless the URL is of a configured origin.
   * @default all of them
   */
  mayDial?: MayDial
  /** Ends the request when it aborts. */
  signal?: AbortSignal
}

/** A response with any status, but for redirects. */
export interface HttpResponse {
  /** The URL that answered, after redirects. */
  url: URL
  /** The IP address of the server that answered, as the socket has it; undefined when its connection was gone already. */
  address: string | undefined
  status: number
  headers: IncomingHttpHeaders
  /** As it came: nothing is decompressed. */
  body: Buffer
}

/** The part of a request that one server gets. */
interface Outgoing {
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
  isConfigured: boolean | undefined
  mayDial: MayDial | undefined
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * An HttpClient makes requests to hosts that the operator or strangers name. Each request has a connection of its own, so
 * that the address rule holds for each.
 */
export class HttpClient {
  readonly #addresses: AddressRule
  readonly #ca: string | undefined

  constructor({ configuredOrigins = [], ca, lookup, isAllowedAddress }: HttpClientOptions = {}) {
    this.#addresses = new AddressRule(configuredOrigins, lookup, isAllowedAddress)
    this.#ca = ca
  }

  /** @throws OutboundError for everything but a whole response within the bounds */
  async request(url: string | URL, request: HttpRequest = {}): Promise<HttpResponse> {
    const deadline = AbortSignal.timeout(request.deadlineMs ?? OUTBOUND_DEADLINE_MS)
    const signal = AbortSignal.any([deadline, ...(request.signal ? [request.signal] : [])])
    try {
      return await this.#follow(parseUrl(url), request, signal)
    } catch (error) {
      if (request.signal?.aborted) throw new OutboundError('aborted', 'the caller ended the request', error)
      if (deadline.aborted) throw new OutboundError('deadline_exceeded', 'the server took too long', error)
      throw OutboundError.from(error)
    }
  }

  async #follow(first: URL, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { method = 'GET', maxRedirects = 0, mayDial } = request
    let url = first
    for (let redirects = 0; ; redirects++) {
      // The caller's headers and body, perhaps with a credential, are for the first origin.
      const { headers, body, isConfigured } = url.origin === first.origin ? request : {}
      const outgoing = { method, headers: { ...headers }, body, isConfigured, mayDial }
      const response = await this.#send(url, outgoing, signal)
      const { statusCode: status = 0, headers: received } = response
      if (!REDIRECTS.has(status)) {
        const address = response.socket.remoteAddress
        const content = await readBody(response, request.maxBytes ?? OUTBOUND_RESPONSE_MAX_BYTES)
        return { url, address, status, headers: received, body: content }
      }
      response.destroy()
      if (redirects === maxRedirects || (method !== 'GET' && method !== 'HEAD'))
        throw new OutboundError('redirect_refused', `${url.origin} redirects elsewhere`)
      url = parseUrl(received.location, url)
    }
  }

  async #send(
    url: URL,
    { method, headers, body, isConfigured = false, mayDial }: Outgoing,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const lookup = this.#addresses.lookupFor(url, isConfigured, mayDial)
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // `agent: false` makes a connection for this request alone, and takes no proxy from the environment
    const request = send(url, { method, headers, agent: false, lookup, signal, ca: this.#ca })
    const answered = once(request, 'response', { signal })
    boundInterimResponses(request)
    // beside `once`, for errors after the response has begun: its body tells of them, too
    request.on('error', () => {})
    request.end(body)
    const [response] = await answered
    return response
  }
}

/** @throws OutboundError */
function parseUrl(text: string | URL | undefined, base?: URL): URL {
  const url = text === undefined ? null : URL.parse(text, base)
  if (url === null) throw new OutboundError('invalid_url', 'the address is not a URL')
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('invalid_url', 'a URL with a user name or password is not asked')
  return url
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    // leaving the loop destroys the response, and its connection with it
    if (length > maxBytes)
      throw new OutboundError('response_too_large', `the response has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
