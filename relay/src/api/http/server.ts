// The API's HTTPS server: HTTP/1.1 only, on sockets that the SNI listener hands over.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type SecureContextOptions, TLSSocket } from 'node:tls'
import { HEADER, PATH, type SignFailure } from '@svc/protocol'
import type { Certificates } from '../../certificates/certificate-files.ts'
import type { CertificateRotation } from '../../certificates/certificate-rotation.ts'
import type { ClientAddresses } from '../../client-address/client-addresses.ts'
import { RelayError } from '../../errors.ts'
import {
  API_DEADLINE_CHECK_MS,
  API_HEAD_DEADLINE_MS,
  API_HEAD_MAX_BYTES,
  API_IDLE_MS,
  PIPELINED_REQUESTS_MAX,
  RATE_LIMITED_DELAY_MS,
} from '../../limits.ts'
import type { ConnectEndpoint } from '../../reverse/connect-endpoint.ts'
import { allowAnyOrigin, isCrossOrigin, sendPreflight } from './cors.ts'
import { failure, sendError, sendJson, sendText } from './envelope.ts'
import { requireRootHost } from './host-check.ts'
import { ApiRequest, isConnect, pathOf } from './request.ts'
import type { RequestLog } from './request-log.ts'
import { WriteTimeouts } from './write-timeouts.ts'

const METHOD_NOT_ALLOWED = 405

/** Answers one request, or throws a RelayError that becomes the answer. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const SWITCHING_PROTOCOLS = 101
/** What is counted for a client that left before its answer, as it is customary. */
const CLIENT_LEFT = 499
/** The route of every path that the API does not reserve, in metrics and logs. */
const PAGES = 'pages'

/** What a connection still owes. */
interface Owed {
  /** Answers, those that wait for another to be sent first among them. */
  count: number
  /** The last one of all. */
  last: ServerResponse
}

const owed = new WeakMap<Duplex, Owed>()

/** Path → method → handler. */
export type Routing = Record<string, Record<string, Handler>>

export interface ApiOptions {
  /** The name that requests have to be for. */
  rootHost: string
  certificates: CertificateRotation
  clientAddresses: ClientAddresses
  routing: Routing
  connect: ConnectEndpoint
  /** For paths that the API does not reserve. */
  site: Handler
  observer: RequestLog
  /** Whether the relay is closing: connections end with their answer then. */
  isClosing: () => boolean
}

export function createApiServer(api: ApiOptions): Server {
  const server = createServer({
    ...secureContext(api.certificates.current),
    IncomingMessage: ApiRequest,
    shouldUpgradeCallback: isConnect,
    ALPNProtocols: ['http/1.1'],
    maxHeaderSize: API_HEAD_MAX_BYTES,
    handshakeTimeout: API_HEAD_DEADLINE_MS,
    headersTimeout: API_HEAD_DEADLINE_MS,
    connectionsCheckingInterval: API_DEADLINE_CHECK_MS,
    keepAliveTimeout: API_IDLE_MS,
    noDelay: true,
  })
  const deadlines = new WriteTimeouts()
  server.on('connection', (socket) => api.connect.onTcpConnection(socket))
  server.on('secureConnection', (connection: Duplex) => {
    // One that came to a worker is watched there.
    if (connection instanceof TLSSocket) deadlines.watch(connection, () => cut(api.connect, connection))
  })
  server.on('request', (request, response) => void answer(api, request, response))
  server.on('upgrade', (request, socket, head) => {
    // What waits for a carrier has bounds of its own.
    if (upgrade(api, request, socket, head)) deadlines.forget(socket as Socket)
  })
  server.on('clientError', (error, socket) => refuseMalformed(api, error, socket))
  api.certificates.onReplace((next) => server.setSecureContext(secureContext(next)))
  // Node looks for slow heads only once a server listens, and this one gets its sockets from another.
  server.emit('listening')
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  // It does not listen itself, so nothing can fail that is not a connection's own.
  server.on('error', () => {})
  return server
}

/** Nothing older than TLS 1.3: what the key would sign there names no host, and sites share it (decision 0016). */
export function secureContext({ key, chainPem }: Certificates): SecureContextOptions {
  return { key: key.export({ type: 'pkcs8', format: 'pem' }), cert: chainPem, minVersion: 'TLSv1.3' }
}

async function answer(api: ApiOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request)
  const observed = api.observer.begin(request, Object.hasOwn(api.routing, path) ? path : PAGES)
  if (!owe(request.socket, response)) return cut(api.connect, request.socket)
  response.setHeader(HEADER.requestId, observed.id)
  response.on('error', (error) => observed.failed(error))
  response.once('close', () => observed.answered(response.headersSent ? response.statusCode : CLIENT_LEFT))
  if (api.isClosing()) response.shouldKeepAlive = false
  try {
    if (isCrossOrigin(path)) allowAnyOrigin(response)
    requireRootHost(request, api.rootHost, api.clientAddresses)
    await handlerOf(api, path, request)(request, response)
  } catch (error) {
    const refusal = observed.failed(error)
    // Who asks too often and waits for each answer is made to wait: answering at once is most of what a flood costs.
    if (refusal.code === 'rate_limited') await pause(RATE_LIMITED_DELAY_MS)
    if (response.headersSent) response.destroy()
    else if (path === PATH.sign && refusal.code === 'internal')
      sendJson(response, refusal.status, { error: refusal.message } satisfies SignFailure)
    else sendError(response, refusal)
  }
}

/** @returns whether the client may wait for one more answer on the connection */
function owe(connection: Duplex, response: ServerResponse): boolean {
  const debt = owed.get(connection) ?? { count: 0, last: response }
  debt.count += 1
  debt.last = response
  owed.set(connection, debt)
  response.once('close', () => {
    debt.count -= 1
  })
  return debt.count <= PIPELINED_REQUESTS_MAX
}

function handlerOf(api: ApiOptions, path: string, request: IncomingMessage): Handler {
  const methods = Object.hasOwn(api.routing, path) ? api.routing[path] : undefined
  if (methods === undefined) return api.site
  const handler = Object.hasOwn(methods, request.method ?? '') ? methods[request.method ?? ''] : undefined
  if (handler !== undefined) return handler
  const allowed = Object.keys(methods)
  if (request.method === 'OPTIONS' && isCrossOrigin(path))
    return (_request, response) => sendPreflight(response, allowed)
  const message = `${path} takes ${allowed.join(', ')}`
  const headers = { Allow: allowed.join(', ') }
  // Its clients do not speak the envelope where uploads fail.
  if (path === PATH.cache)
    return (_request, response) => sendText(response, METHOD_NOT_ALLOWED, `${message}\n`, headers)
  if (path === PATH.sign)
    return (_request, response) =>
      sendJson(response, METHOD_NOT_ALLOWED, { error: message } satisfies SignFailure, headers)
  throw new RelayError('method_not_allowed', message, headers)
}

/** @returns whether the connection is a carrier now */
function upgrade(api: ApiOptions, request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
  const observed = api.observer.begin(request, PATH.connect)
  socket.on('error', () => socket.destroy())
  try {
    // It would be written into the session.
    if (owed.get(socket)?.last.writableEnded === false)
      throw new RelayError('hijack_unsupported', 'the connection still owes an earlier answer')
    requireRootHost(request, api.rootHost, api.clientAddresses)
    api.connect.upgrade(request, api.clientAddresses.ofRequest(request), socket, head)
    observed.answered(SWITCHING_PROTOCOLS)
    return true
  } catch (error) {
    const refusal = observed.failed(error)
    refuseUpgrade(socket, refusal, observed.id)
    observed.answered(refusal.status)
    return false
  }
}

/** Also what the kernel still keeps for a client that does not read goes at once, by a reset of the TCP connection. */
function cut(connect: ConnectEndpoint, connection: Duplex): void {
  connect.underlyingSocketOf(connection as Socket)?.resetAndDestroy()
  connection.destroy()
}

/** What Node's parser refuses. The answer is given time to leave: Node itself would cut the connection behind it. */
function refuseMalformed(api: ApiOptions, error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  // RFC 9113 §3.4: the preface of a client that speaks HTTP/2 without having been offered it.
  if (error.code === 'HPE_PAUSED_H2_UPGRADE') {
    const refusal = new RelayError('http11_only', 'HTTP/1.1 is needed')
    api.observer.malformed(refusal.status)
    refuseUpgrade(socket, refusal)
    return
  }
  const status = MALFORMED_STATUS[error.code ?? ''] ?? '400 Bad Request'
  api.observer.malformed(Number.parseInt(status, 10))
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

const MALFORMED_STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Before the upgrade there is no response object to write the envelope with. */
function refuseUpgrade(socket: Duplex, error: RelayError, requestId?: string): void {
  const body = JSON.stringify(failure(error))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': `${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin': '*',
    Connection: 'close',
    ...(requestId && { [HEADER.requestId]: requestId }),
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} \r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}
