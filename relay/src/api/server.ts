// The API's HTTPS server: HTTP/1.1 only, on sockets that the SNI listener hands over.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Duplex } from 'node:stream'
import { PATH } from '@svc/protocol'
import type { Certificates } from '../certificates/store.ts'
import { RelayError } from '../errors.ts'
import { API_DEADLINE_CHECK_MS, API_HEAD_DEADLINE_MS, API_HEAD_MAX_BYTES, API_IDLE_MS } from '../limits.ts'
import type { Logger } from '../log.ts'
import type { ReverseConnect } from '../reverse/connect.ts'
import { allowAnyOrigin, isCrossOrigin, sendPreflight } from './cors.ts'
import { failure, sendError } from './envelope.ts'

/** Answers one request, or throws a RelayError that becomes the answer. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** Path → method → handler. */
export type Routing = Record<string, Record<string, Handler>>

export interface Api {
  certificates: Certificates
  routing: Routing
  connect: ReverseConnect
  /** For paths that the API does not reserve. */
  site: Handler
  log: Logger
}

export function createApiServer(api: Api): Server {
  const { chainPem, key } = api.certificates
  const server = createServer({
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    cert: chainPem,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    maxHeaderSize: API_HEAD_MAX_BYTES,
    handshakeTimeout: API_HEAD_DEADLINE_MS,
    headersTimeout: API_HEAD_DEADLINE_MS,
    connectionsCheckingInterval: API_DEADLINE_CHECK_MS,
    keepAliveTimeout: API_IDLE_MS,
    noDelay: true,
  })
  server.on('request', (request, response) => void answer(api, request, response))
  server.on('upgrade', (request, socket, head) => upgrade(api, request, socket, head))
  server.on('clientError', refuseMalformed)
  // Node looks for slow heads only once a server listens, and this one gets its sockets from another.
  server.emit('listening')
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

async function answer(api: Api, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request)
  try {
    if (isCrossOrigin(path)) allowAnyOrigin(response)
    await handlerOf(api, path, request)(request, response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else sendError(response, asRelayError(error, api.log))
  }
}

function handlerOf(api: Api, path: string, request: IncomingMessage): Handler {
  const methods = Object.hasOwn(api.routing, path) ? api.routing[path] : undefined
  if (methods === undefined) return api.site
  const handler = Object.hasOwn(methods, request.method ?? '') ? methods[request.method ?? ''] : undefined
  if (handler !== undefined) return handler
  const allowed = Object.keys(methods)
  if (request.method === 'OPTIONS' && isCrossOrigin(path))
    return (_request, response) => sendPreflight(response, allowed)
  const message = `${path} takes ${allowed.join(', ')}`
  throw new RelayError('method_not_allowed', message, { Allow: allowed.join(', ') })
}

function upgrade(api: Api, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on('error', () => socket.destroy())
  try {
    if (pathOf(request) !== PATH.connect || request.method !== 'GET')
      throw new RelayError('invalid_request', `only GET ${PATH.connect} can be upgraded`)
    api.connect.upgrade(request, socket, head)
  } catch (error) {
    refuseUpgrade(socket, asRelayError(error, api.log))
  }
}

/** What Node's parser refuses. The answer is given time to leave: Node itself would cut the connection behind it. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = MALFORMED_STATUS[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

const MALFORMED_STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Before the upgrade there is no response object to write the envelope with. */
function refuseUpgrade(socket: Duplex, error: RelayError): void {
  const body = JSON.stringify(failure(error))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': `${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin': '*',
    Connection: 'close',
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} \r\n${lines.join('')}\r\n${body}`)
}

function asRelayError(error: unknown, log: Logger): RelayError {
  if (error instanceof RelayError) return error
  log.error({ err: error }, 'request failed')
  return new RelayError('internal', 'the relay failed to answer')
}

function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}
