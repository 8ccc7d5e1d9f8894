// The API's HTTPS server: HTTP/1.1 only, on sockets that the SNI listener hands over.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type SecureContextOptions, TLSSocket } from 'node:tls'
import {
  lingeringEnd,
  type MalformedRequest,
  REQUEST_HEAD_MAX_BYTES,
  StrictRequests,
} from '@svc/node-kit/http'
import { resetSocket } from '@svc/node-kit/sockets'
import { HEADER, PATH, type SignFailure } from '@svc/protocol'
import type { Certificates } from '../../certificates/certificate-files.ts'
import type { CertificateRotation } from '../../certificates/certificate-rotation.ts'
import type { ClientAddresses } from '../../client-address/client-addresses.ts'
import { RelayError } from '../../errors.ts'
import { API_DEADLINE_CHECK_MS, API_HEAD_DEADLINE_MS, API_IDLE_MS } from '../../http/deadlines.ts'
import { asksForPage, errorPage, isShown } from '../../http/error-page.ts'
import { HSTS_FIELD, hstsOf } from '../../http/hsts.ts'
import { WriteTimeouts } from '../../http/write-timeouts.ts'
import { enforceRequestTimeouts } from '../../node-internals/request-timeouts.ts'
import type { ConnectEndpoint } from '../../reverse/connect-endpoint.ts'
import { allowAnyOrigin, isCrossOrigin, sendPreflight } from './cors.ts'
import { failure, sendError, sendJson, sendText } from './envelope.ts'
import { namesAddress, type OwnAuthority, requireRootHost } from './host-check.ts'
import { answerInTurn, requireNoOpenResponse } from './open-responses.ts'
import { isPaymentPath, paymentFailure } from './payment-failure.ts'
import { ApiRequest, isNeighbour, mayUpgrade, pathOf, requireNoBody } from './request.ts'
import type { RequestLog } from './request-log.ts'

/** Delay before a response `rate_limited`. Honest clients lose nothing, since they wait longer anyway. */
export const RATE_LIMITED_DELAY_MS = 20
const METHOD_NOT_ALLOWED = 405
const HEAD_TOO_LARGE = 431

/** Responds to one request, or throws a RelayError that becomes the response. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const SWITCHING_PROTOCOLS = 101
const VERSION_NOT_SUPPORTED = 505
/** The customary status in metrics of a client that left before its response. */
const CLIENT_LEFT = 499
/** The route of every path that the API does not reserve, in metrics and logs. */
const PAGES = 'pages'

/** Handlers by path and method. */
export type Routing = Record<string, Record<string, Handler>>

/** @returns the handler for GET and HEAD */
export function getAndHead(handler: Handler): Record<string, Handler> {
  return { GET: handler, HEAD: handler }
}

/** Accepts upgrades of `/sdk/route/relay`. Rejects with a RelayError before anything is written. */
export interface NeighbourEndpoint {
  connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

export interface ApiOptions extends OwnAuthority {
  certificates: CertificateRotation
  clientAddresses: ClientAddresses
  routing: Routing
  connect: ConnectEndpoint
  /** Joins a connection to a neighbour; undefined if the relay has no overlay, and in workers. */
  neighbours?: NeighbourEndpoint | undefined
  /** Handler of paths that the API does not reserve. */
  pages: Handler
  observer: RequestLog
  /** Whether the relay is closing. If so, connections end after their response. */
  isClosing: () => boolean
}

export function createApiServer(api: ApiOptions): Server {
  const server = createServer({
    ...secureContext(api.certificates.current),
    IncomingMessage: ApiRequest,
    shouldUpgradeCallback: mayUpgrade,
    ALPNProtocols: ['http/1.1'],
    maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
    handshakeTimeout: API_HEAD_DEADLINE_MS,
    headersTimeout: API_HEAD_DEADLINE_MS,
    connectionsCheckingInterval: API_DEADLINE_CHECK_MS,
    keepAliveTimeout: API_IDLE_MS,
    noDelay: true,
  })
  const deadlines = new WriteTimeouts()
  server.on('connection', (socket) => api.connect.onTcpConnection(socket))
  server.on('secureConnection', (connection: Duplex) => {
    // Otherwise a worker accepted the connection, and watches it.
    if (connection instanceof TLSSocket) deadlines.watch(connection, () => cut(api.connect, connection))
  })
  const strict = new StrictRequests(server, 'secureConnection', {
    answer: answerToMalformed,
    onRefuse: ({ status }) => api.observer.malformed(status),
  })
  server.on(
    'request',
    strict.requests((request, response) => {
      const { socket } = request
      // The parser goes on with what it has of a connection that was cut.
      if (socket.destroyed) return
      if (!answerInTurn(socket, response, () => void answer(api, request, response))) cut(api.connect, socket)
    }),
  )
  server.on(
    'upgrade',
    strict.upgrades((request, socket, head) => {
      // Carriers have their own bounds.
      void upgrade(api, request, socket, head).then((isCarrier) => {
        if (isCarrier) deadlines.forget(socket as Socket)
      })
    }),
  )
  api.certificates.onReplace((next) => server.setSecureContext(secureContext(next)))
  enforceRequestTimeouts(server)
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  // The server does not listen itself, so that an error here belongs to one connection.
  server.on('error', () => {})
  return server
}

/** TLS 1.3 only: a signature of TLS 1.2 names no host, and sites share the key (decision 0016). */
export function secureContext({ key, chainPem }: Certificates): SecureContextOptions {
  return { key: key.export({ type: 'pkcs8', format: 'pem' }), cert: chainPem, minVersion: 'TLSv1.3' }
}

async function answer(api: ApiOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request)
  const observed = api.observer.begin(request, Object.hasOwn(api.routing, path) ? path : PAGES)
  response.setHeader(HEADER.requestId, observed.id)
  const hsts = hstsOf(api.rootHost)
  if (hsts !== undefined) response.setHeader(HSTS_FIELD, hsts)
  response.on('error', (error) => observed.failed(error))
  response.once('close', () => observed.responded(response.headersSent ? response.statusCode : CLIENT_LEFT))
  if (api.isClosing()) response.shouldKeepAlive = false
  try {
    if (isCrossOrigin(path)) allowAnyOrigin(response)
    if (!(mayNameAddress(api, path, request) && namesAddress(request)))
      requireRootHost(request, api, api.clientAddresses)
    await handlerOf(api, path, request)(request, response)
  } catch (error) {
    const refusal = observed.failed(error)
    // The delay slows clients that wait for each response: responses are most of the cost of a flood.
    if (refusal.code === 'rate_limited') await pause(RATE_LIMITED_DELAY_MS)
    if (response.headersSent) response.destroy()
    else if (isShown(request.headers)) sendError(response, refusal)
    else if (path === PATH.sign && refusal.code === 'internal')
      sendJson(response, refusal.status, { error: refusal.message } satisfies SignFailure)
    else if (isPaymentPath(path) && Object.hasOwn(api.routing, path))
      sendJson(response, refusal.status, paymentFailure(path, refusal), refusal.headers)
    else sendError(response, refusal)
  }
}

/** Whether Host may be an address: for pages and the relay's health, which are public and the same for all clients. */
function mayNameAddress({ routing }: ApiOptions, path: string, { method }: IncomingMessage): boolean {
  return (path === PATH.health || !Object.hasOwn(routing, path)) && (method === 'GET' || method === 'HEAD')
}

function handlerOf(api: ApiOptions, path: string, request: IncomingMessage): Handler {
  const methods = Object.hasOwn(api.routing, path) ? api.routing[path] : undefined
  if (methods === undefined) return api.pages
  const handler = Object.hasOwn(methods, request.method ?? '') ? methods[request.method ?? ''] : undefined
  if (handler !== undefined) return handler
  const allowed = Object.keys(methods)
  if (request.method === 'OPTIONS' && isCrossOrigin(path))
    return (_request, response) => sendPreflight(response, allowed)
  const message = `${path} allows ${allowed.join(', ')}`
  const headers = { Allow: allowed.join(', ') }
  // Clients of the static cache expect errors without the envelope.
  if (path === PATH.cache)
    return (_request, response) => sendText(response, METHOD_NOT_ALLOWED, `${message}\n`, headers)
  if (path === PATH.sign && !isShown(request.headers))
    return (_request, response) =>
      sendJson(response, METHOD_NOT_ALLOWED, { error: message } satisfies SignFailure, headers)
  throw new RelayError('method_not_allowed', message, headers)
}

/** Upgrades a connection. @returns whether it now is a carrier or leads to a neighbour */
async function upgrade(
  api: ApiOptions,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<boolean> {
  const observed = api.observer.begin(request, pathOf(request))
  socket.on('error', () => socket.destroy())
  try {
    requireNoOpenResponse(request.socket)
    requireRootHost(request, api, api.clientAddresses)
    requireNoBody(request)
    const carried = isNeighbour(request)
      ? connectToNeighbour(api, request, socket, head)
      : api.connect.upgrade(request, api.clientAddresses.ofRequest(request), socket, head)
    // A request that this relay accepts itself is a carrier already; one that it passes on is a promise.
    if (carried !== undefined) await carried
    observed.responded(SWITCHING_PROTOCOLS)
    return true
  } catch (error) {
    const refusal = observed.failed(error)
    refuseUpgrade(socket, refusal, observed.id)
    observed.responded(refusal.status)
    return false
  }
}

async function connectToNeighbour(
  { neighbours }: ApiOptions,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  if (neighbours === undefined)
    throw new RelayError('feature_unavailable', 'this relay has no neighbours on an overlay')
  await neighbours.connect(request, socket, head)
}

/** Resets the TCP connection, so that the kernel drops the bytes for a client that does not read. */
function cut(connect: ConnectEndpoint, connection: Duplex): void {
  resetSocket(connect.underlyingSocketOf(connection as Socket), connection)
}

function answerToMalformed({ status, code, head }: MalformedRequest): string {
  // RFC 9113 §3.4: a client sent the preface of HTTP/2, which the relay did not offer.
  if (status === VERSION_NOT_SUPPORTED || code === 'HPE_PAUSED_H2_UPGRADE')
    return responseOf(new RelayError('http11_only', 'the relay speaks only HTTP/1.1 here'), head)
  const message =
    status === HEAD_TOO_LARGE ? 'the head of the request is too large' : 'the request is malformed'
  return responseOf(new RelayError('invalid_request', message, {}, status), head)
}

/** Writes an error to a connection that has no response object. */
function refuseUpgrade(socket: Duplex, error: RelayError, requestId: string): void {
  lingeringEnd(socket, responseOf(error, '', requestId))
}

/**
 * @param head the beginning of the request's head
 * @returns the whole response, which is the last one of its connection
 */
function responseOf(error: RelayError, head: string, requestId?: string): string {
  const page = asksForPage(head) ? errorPage(error.status, error.message) : undefined
  const body = page?.body ?? JSON.stringify(failure(error))
  const headers = {
    ...(page?.headers ?? {
      'Content-Type': 'application/json',
      'Content-Length': `${Buffer.byteLength(body)}`,
    }),
    'Access-Control-Allow-Origin': '*',
    Connection: 'close',
    ...(requestId && { [HEADER.requestId]: requestId }),
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} \r\n${lines.join('')}\r\n${body}`
}
