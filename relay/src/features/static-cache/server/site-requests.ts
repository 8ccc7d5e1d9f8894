// Answers the requests of visitors for one site: from its stored files, by the live site, or by saying that the site is away.
// Nothing here leads to the relay's own API, whatever a path says.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants } from 'node:http2'
import type { Duplex } from 'node:stream'
import { lingeringEnd } from '@svc/node-kit/http'
import { RelayError } from '../../../core/errors.ts'
import { discardBody } from '../../../core/http/discard-body.ts'
import { errorPage, isShown } from '../../../core/http/error-page.ts'
import { HSTS_FIELD, hstsOf } from '../../../core/http/hsts.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { LiveSites, VisitorRequest, VisitorResponse } from '../live-site/live-sites.ts'
import type { CountCacheResult, ServedSnapshots } from '../snapshot.ts'
import { awayAnswer } from './away-page.ts'
import { FileAnswers } from './file-answer.ts'
import type { DeliveryParts } from './pace.ts'
import { BAD_REQUEST, misdirected, type Refusal, refusalOf } from './request-check.ts'
import { findFile } from './request-path.ts'
import type { VisitorConnection } from './visitor-connection.ts'

const MOVED_PERMANENTLY = 301
const INTERNAL_SERVER_ERROR = 500
const SERVICE_UNAVAILABLE = 503

export interface SiteRequestsParts extends DeliveryParts {
  snapshots: ServedSnapshots
  live: LiveSites
  /** The ports that visitors may name. */
  ownPorts: readonly number[]
  /** Called once for each request that was answered. */
  observe: CountCacheResult
  log: Logger
}

export class SiteRequests {
  readonly #parts: SiteRequestsParts
  readonly #files: FileAnswers

  constructor(parts: SiteRequestsParts) {
    this.#parts = parts
    this.#files = new FileAnswers(parts)
  }

  /** Never rejects. */
  async answer(
    request: VisitorRequest,
    response: VisitorResponse,
    connection: VisitorConnection,
  ): Promise<void> {
    try {
      await this.#answer(request, response, connection)
    } catch (error) {
      this.#failed(error, request, response, connection)
    }
  }

  /** Passes a WebSocket on to the live site. Never rejects. */
  async upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    connection: VisitorConnection,
  ): Promise<void> {
    const { snapshots, live, observe, log } = this.#parts
    const { hostname, clientIp, isEnding } = connection
    try {
      const refusal =
        refusalOf(request, hostname, this.#parts.ownPorts) ?? (isEnding ? misdirected(hostname) : undefined)
      if (refusal !== undefined) return endWith(socket, refusal)
      const lease = snapshots.leaseOf(hostname)
      const isLive = lease !== undefined && (await live.upgrade(request, socket, head, lease, clientIp))
      observe(isLive ? 'live' : 'away')
      if (!isLive)
        endWith(socket, {
          status: SERVICE_UNAVAILABLE,
          message: awayAnswer({ method: 'POST', headers: {} }).body,
        })
    } catch (error) {
      log.warn({ err: error, hostname }, 'a WebSocket could not be passed on to its site')
      socket.destroy()
    }
  }

  close(): void {
    this.#files.close()
  }

  async #answer(
    request: VisitorRequest,
    response: VisitorResponse,
    connection: VisitorConnection,
  ): Promise<void> {
    const { hostname, isEnding } = connection
    // The connection stays open until this response has been sent, after those before it.
    if (isEnding && !connection.began(response)) return connection.cut()
    const refusal = refusalOf(request, hostname, this.#parts.ownPorts)
    if (refusal !== undefined) return refuse(request, response, refusal)
    const borrowed = isEnding ? undefined : this.#parts.snapshots.borrow(hostname, connection)
    // Another connection may lead to the live site.
    if (borrowed === undefined) return refuse(request, response, misdirected(hostname))
    const { method, url = '/' } = request
    const found = method === 'GET' || method === 'HEAD' ? findFile(borrowed.snapshot, url) : undefined
    if (found?.kind === 'file') {
      this.#parts.observe('hit')
      if (hasBody(request)) closeAfter(response)
      const hsts = hstsOf(hostname)
      if (hsts !== undefined) (response as ServerResponse).setHeader(HSTS_FIELD, hsts)
      return await this.#files.send(request, response, connection, [found.file, borrowed])
    }
    borrowed.release()
    // No stored file has such a path, but the live site may.
    if (found?.kind === 'malformed' && this.#parts.snapshots.leaseOf(hostname) === undefined)
      return refuse(request, response, {
        status: BAD_REQUEST,
        message: 'The path is not valid percent-encoded UTF-8.',
      })
    if (found?.kind === 'folder') return redirect(response, found.location)
    await this.#forward(request, response, connection)
  }

  async #forward(
    request: VisitorRequest,
    response: VisitorResponse,
    connection: VisitorConnection,
  ): Promise<void> {
    const { snapshots, live, observe } = this.#parts
    const { hostname, clientIp } = connection
    if (!connection.began(response)) return connection.cut()
    const lease = snapshots.leaseOf(hostname)
    const isLive = lease !== undefined && (await live.forward(request, response, lease, clientIp))
    observe(isLive ? 'live' : 'away')
    if (!isLive) await sendAway(request, response)
  }

  #failed(
    error: unknown,
    request: VisitorRequest,
    response: VisitorResponse,
    connection: VisitorConnection,
  ): void {
    const isRefusal = error instanceof RelayError
    if (!isRefusal)
      this.#parts.log.warn({ err: error, hostname: connection.hostname }, 'a visitor got no response')
    if (response.headersSent) connection.cut()
    else if (isRefusal)
      refuse(request, response, { status: SERVICE_UNAVAILABLE, message: error.message }, error.headers)
    else
      refuse(request, response, {
        status: INTERNAL_SERVER_ERROR,
        message: 'The relay could not answer this request.',
      })
  }
}

async function sendAway(request: VisitorRequest, response: VisitorResponse): Promise<void> {
  const { status, headers, body } = awayAnswer(request)
  const isSending = hasBody(request)
  const isWaiting = isSending && awaitsContinue(request)
  if (isSending) closeAfter(response)
  // Both kinds of request are streams of bytes.
  if (isSending && !isWaiting) await discardBody(request as IncomingMessage)
  if (response.destroyed) return
  const http1 = response as ServerResponse
  http1.writeHead(status, { ...headers, 'Content-Length': `${Buffer.byteLength(body)}` })
  if (request.method !== 'HEAD') http1.write(body)
  // A visitor may send the body nevertheless. Over HTTP/1.1, a reset connection would hide the response from it.
  if (isWaiting && !('stream' in response)) await discardBody(request as IncomingMessage)
  http1.end()
}

function redirect(response: VisitorResponse, location: string): void {
  const http1 = response as ServerResponse
  http1
    .writeHead(MOVED_PERMANENTLY, { Location: location, 'Cache-Control': 'no-cache', 'Content-Length': '0' })
    .end()
}

function refuse(
  request: VisitorRequest,
  response: VisitorResponse,
  { status, message }: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return
  closeAfter(response)
  const http1 = response as ServerResponse
  if (isShown(request.headers)) {
    const page = errorPage(status, message)
    http1.writeHead(status, { ...headers, ...page.headers }).end(page.body)
  } else http1.writeHead(status, { ...headers, ...textHeaders(message) }).end(`${message}\n`)
}

/** Answers a connection that has no response object. */
function endWith(socket: Duplex, { status, message }: Refusal): void {
  const headers = { ...textHeaders(message), Connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  lingeringEnd(socket, `HTTP/1.1 ${status} \r\n${lines.join('')}\r\n${message}\n`)
}

function textHeaders(message: string): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': `${Buffer.byteLength(message) + 1}`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Lets nothing follow the response: over HTTP/1.1 the connection ends, over HTTP/2 the stream, whatever is still being sent. */
function closeAfter(response: VisitorResponse): void {
  if (!('stream' in response)) response.shouldKeepAlive = false
  else response.once('finish', () => response.stream.close(constants.NGHTTP2_NO_ERROR))
}

function awaitsContinue({ headers }: VisitorRequest): boolean {
  return headers.expect?.toLowerCase() === '100-continue'
}

function hasBody({ headers }: VisitorRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
