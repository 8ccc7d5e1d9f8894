// The redirect listener: answers plain HTTP with a 308 redirect to the same host and path over https.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { posix } from 'node:path'
import { REQUEST_HEAD_MAX_BYTES, StrictRequests } from '@svc/node-kit/http'
import { createServer } from '@svc/node-kit/http-module'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import type { TrustedProxies } from '../../core/client-address/trusted-proxies.ts'
import { errorPage, isShown } from '../../core/http/error-page.ts'
import { ConnectionLimiter } from '../../core/ingress/connection-limiter.ts'
import type { Refusal } from '../../core/metrics/labels.ts'

/** Open connections of the redirect listener. With one more, the relay closes the oldest of them. */
const REDIRECT_CONNECTIONS_MAX = 1024
/** The same from one network. The relay closes the one that exceeds it. */
export const REDIRECT_CONNECTIONS_PER_NETWORK_MAX = 64
/** Time for one redirect, from the connection to the end of the response. */
const REDIRECT_DEADLINE_MS = 3_000
/** Header fields of such a request that the relay reads; it ignores the rest. */
const REDIRECT_HEADERS_MAX = 128

export interface RedirectListenerParts {
  /** Whether the relay serves this host over https: lower case, without a port. */
  isServed(host: string): boolean
  /** Port in the https addresses; empty for the default one. */
  httpsPort: string
  trustedProxies: Pick<TrustedProxies, 'has'>
  onRefuse(reason: Refusal): void
}

const PERMANENT_REDIRECT = 308
const BAD_REQUEST = 400
const NOT_FOUND = 404
const MISDIRECTED_REQUEST = 421
/** A name with an optional port. */
const AUTHORITY = /^([a-z0-9_.-]{1,255}?)\.?(?::\d{0,5})?$/
/** What RFC 9112 §3.2.1 and §3.2.2 allow: a path, or an address with one. */
const TARGET = /^(?:http:\/\/([^/?#]{1,261}))?(\/[\x21-\x7e]*)?$/i
const PERCENT_ENCODED = /%([0-9a-f]{2})/gi
/** Where an ACME authority asks for the proof of `http-01` (RFC 8555 §8.3). */
const HTTP_CHALLENGES = /^\/\.well-known\/acme-challenge(?:\/|$)/i

export function createRedirectListener(parts: RedirectListenerParts): Server {
  const connections = new ConnectionLimiter({
    isOverloaded: () => false,
    onRefuse: parts.onRefuse,
    // All of these connections count as silent: each ends with its first response.
    max: {
      all: REDIRECT_CONNECTIONS_MAX,
      perNetwork: REDIRECT_CONNECTIONS_PER_NETWORK_MAX,
      silent: REDIRECT_CONNECTIONS_MAX,
      silentPerNetwork: REDIRECT_CONNECTIONS_PER_NETWORK_MAX,
    },
  })
  const server = createServer({
    headersTimeout: REDIRECT_DEADLINE_MS,
    requestTimeout: REDIRECT_DEADLINE_MS,
    connectionsCheckingInterval: REDIRECT_DEADLINE_MS / 2,
    maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
    keepAlive: false,
  })
  const strict = new StrictRequests(server, 'connection')
  server.on(
    'request',
    strict.requests((request, response) => {
      response.on('error', () => response.destroy())
      answer(request, response, parts)
    }),
  )
  server.maxHeadersCount = REDIRECT_HEADERS_MAX
  server.maxRequestsPerSocket = 1
  // Also bounds how long a client may take to read its answer.
  server.timeout = REDIRECT_DEADLINE_MS
  server.on('connection', (socket: Socket) => {
    const ip = normalizeIp(socket.remoteAddress ?? '')
    connections.admit(socket, ip === undefined || parts.trustedProxies.has(ip) ? undefined : ip)
  })
  // An error here is a connection that the system could not accept. The caller of listen() handles its errors.
  server.on('error', () => {})
  return server
}

function answer(request: IncomingMessage, response: ServerResponse, parts: RedirectListenerParts): void {
  const target = TARGET.exec(request.url ?? '')
  const hosts = request.headersDistinct.host ?? []
  // RFC 9112 §3.2: at most one Host, and only HTTP/1.0 may omit it. An address in the target takes precedence.
  const authority = target?.[1] ?? hosts[0]
  const host = AUTHORITY.exec(authority?.toLowerCase() ?? '')?.[1]
  // Node also reads HTTP/0.9 requests, whose fields cannot be trusted.
  if (request.httpVersionMajor !== 1 || target === null || hosts.length > 1 || host === undefined)
    refuse(response, BAD_REQUEST, 'the request is malformed')
  else if (!parts.isServed(host)) refuse(response, MISDIRECTED_REQUEST, 'this relay serves no such host')
  else {
    const path = target[2] ?? '/'
    if (isHttpChallenge(path)) refuse(response, NOT_FOUND, 'not found')
    else {
      const port = parts.httpsPort === '' ? '' : `:${parts.httpsPort}`
      response.setHeader('Location', `https://${host}${port}${path}`)
      end(response, PERMANENT_REDIRECT)
    }
  }
}

/**
 * Returns whether a path, in any spelling, is that of an `http-01` challenge. Authorities follow redirects: with one
 * here, a site could answer the challenge, and get certificates outside of the relay's budgets.
 */
function isHttpChallenge(target: string): boolean {
  const [path = ''] = target.split(/[?#]/, 1)
  const decoded = path.replace(PERCENT_ENCODED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return HTTP_CHALLENGES.test(posix.normalize(decoded))
}

/** People in a browser get a page. */
function refuse(response: ServerResponse, status: number, text: string): void {
  if (!isShown(response.req.headers)) {
    end(response, status)
    return
  }
  const page = errorPage(status, text)
  response.writeHead(status, { Connection: 'close', ...page.headers }).end(page.body)
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { Connection: 'close', 'Content-Length': 0 }).end()
}
