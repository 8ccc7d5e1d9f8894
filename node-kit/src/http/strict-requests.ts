// Makes Node's HTTP servers as strict as the SDK's own: ambiguous requests are refused, with an answer that arrives.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { REQUEST_FIELDS_MAX, REQUEST_LINE_MAX_BYTES } from './limits.ts'
import { lingeringEnd } from './lingering-end.ts'
import { RequestLines } from './request-lines.ts'

/** MalformedRequest is a refused request. */
export interface MalformedRequest {
  status: number
  /** The code of Node's parser, if the parser refused the request. */
  code?: string | undefined
  /** The beginning of the request's head, as far as it was kept. */
  head: string
}

/** StrictOptions define the answer to a refused request, and a callback. */
export interface StrictOptions {
  /** @returns the whole answer; undefined for one without content */
  answer?: (refusal: MalformedRequest) => string | undefined
  onRefuse?: (refusal: MalformedRequest) => void
}

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void
type OnUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** The state of a connection. */
class Connection {
  readonly lines = new RequestLines()
  /** The last accepted request, and its response. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  isRefused = false

  readonly look = (bytes: Buffer): void => {
    if (!this.isRefused) this.lines.append(bytes)
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
}
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}
/** A plausible coding before `chunked`, which is not implemented. Everything else is malformed (RFC 9112 §6.1). */
const OTHER_CODING = /^[a-z]+, ?chunked$/

/** RFC 9112 §3.2.1 and §3.2.2: origin-form or absolute-form. */
const TARGET = /^(?:\/|[a-z][a-z\d+.-]*:\/\/)/i

/** StrictRequests wraps the listeners of one server, and passes only accepted requests on. */
export class StrictRequests {
  readonly #options: StrictOptions
  readonly #connections = new WeakMap<Duplex, Connection>()

  /** @param connected the server's event for new connections, before its parser reads them */
  constructor(server: Server, connected: 'connection' | 'secureConnection', options: StrictOptions = {}) {
    this.#options = options
    server.on(connected, (socket: Duplex) => this.#watch(socket))
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#malformed(error, socket))
  }

  /** Returns a listener that passes only accepted requests to `serve`. */
  requests(serve: OnRequest): OnRequest {
    return (request, response) => {
      const { socket } = request
      if (!this.#admits(request, socket)) return
      const connection = this.#of(socket)
      connection.request = request
      connection.response = response
      serve(request, response)
    }
  }

  upgrades(serve: OnUpgrade): OnUpgrade {
    return (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      if (!this.#admits(request, socket)) return
      socket.off('data', this.#of(socket).look)
      serve(request, socket, head)
    }
  }

  #of(socket: Duplex): Connection {
    let connection = this.#connections.get(socket)
    if (connection === undefined) {
      connection = new Connection()
      this.#connections.set(socket, connection)
    }
    return connection
  }

  #watch(socket: Duplex): void {
    const connection = this.#of(socket)
    // Runs before the parser, which gets the same bytes next.
    socket.prependListener('data', connection.look)
  }

  #admits(request: IncomingMessage, socket: Duplex): boolean {
    const connection = this.#of(socket)
    if (connection.isRefused) return false
    const status = isTooLong(request) ? 414 : connection.lines.takeLineOf(request) ? refusalOf(request) : 400
    if (status === undefined) return true
    this.#refuse(socket, connection, { status, head: headOf(request) })
    return false
  }

  #malformed(error: NodeJS.ErrnoException, socket: Duplex): void {
    const connection = this.#of(socket)
    if (connection.isRefused) return
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const { code } = error
    this.#refuse(socket, connection, {
      status: STATUS_OF_CODE[code ?? ''] ?? 400,
      code,
      head: connection.lines.beginning,
    })
  }

  /** Answers after the pending requests, and stops reading. */
  #refuse(socket: Duplex, connection: Connection, refusal: MalformedRequest): void {
    connection.isRefused = true
    const { request, response } = connection
    this.#options.onRefuse?.(refusal)
    const end = (): void => {
      if (socket.writable)
        lingeringEnd(socket, this.#options.answer?.(refusal) ?? plainAnswer(refusal.status))
    }
    if (request === undefined || response === undefined || response.closed) end()
    else if (request.complete || refusal.code === undefined) response.once('close', end)
    // That request's body is malformed, so this is its answer, unless it already has one.
    else if (response.writableEnded) response.once('close', () => socket.writable && lingeringEnd(socket, ''))
    else if (response.headersSent) socket.destroy()
    else end()
  }
}

/** Returns the fields once more, one a line. */
function headOf({ rawHeaders }: IncomingMessage): string {
  return rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
}

function isTooLong({ method, url }: IncomingMessage): boolean {
  return `${method} ${url} HTTP/1.1`.length > REQUEST_LINE_MAX_BYTES
}

/** @returns the status for a request that violates RFC 9112 */
function refusalOf({
  method,
  url = '',
  httpVersion,
  rawHeaders,
  headers,
}: IncomingMessage): number | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 505
  if (rawHeaders.length > 2 * REQUEST_FIELDS_MAX) return 431
  const coding = headers['transfer-encoding']?.toLowerCase()
  if (coding !== undefined && (coding !== 'chunked' || httpVersion === '1.0'))
    return OTHER_CODING.test(coding) && httpVersion === '1.1' ? 501 : 400
  const isForServer = url === '*' && method === 'OPTIONS'
  return isForServer || (TARGET.test(url) && !url.includes('#')) ? undefined : 400
}

function plainAnswer(status: number): string {
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
}
