// A connection of a visitor whose TLS the relay ends: its visitor, its open responses, and how it ends.

import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { resetSocket } from '@svc/node-kit/sockets'
import { PIPELINED_REQUESTS_MAX } from '../../../core/api/http/open-responses.ts'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import { CLOSE_GRACE_MS } from '../../../core/ingress/open-sockets.ts'
import { type CountedConnection, UNCOUNTED } from '../../../core/traffic/counted-connection.ts'
import { CACHE_CLOSING_MAX_MS } from '../closing-sites.ts'
import type { VisitorResponse } from '../live-site/live-sites.ts'

export class VisitorConnection {
  /** The hostname that the visitor named in the handshake. */
  readonly hostname: string
  /** Client address; undefined for a trusted proxy that named no client. */
  readonly clientIp: string | undefined
  /** The network of the client, or if that is unknown, a network of this connection only. */
  readonly network: string
  readonly #socket: Socket
  #tls: TLSSocket | undefined
  #session: ServerHttp2Session | undefined
  readonly #open = new Set<VisitorResponse>()
  #counted: CountedConnection = UNCOUNTED
  /** Bytes that are counted. */
  #received = 0
  #sent = 0
  #hasAsked = false
  #isEnding = false
  #cutting: NodeJS.Timeout | undefined
  /** The time at which it is cut, in milliseconds of the monotonic clock. */
  #cutAt = Number.POSITIVE_INFINITY

  /** @param socket the TCP connection */
  constructor(socket: Socket, hostname: string, clientIp: string | undefined) {
    this.#socket = socket
    this.hostname = hostname
    this.clientIp = clientIp
    this.network =
      clientIp === undefined ? `${socket.remoteAddress} ${socket.remotePort}` : networkOf(clientIp)
  }

  /** Resolves when it has ended. */
  get closed(): Promise<void> {
    if (this.#socket.closed) return Promise.resolve()
    return new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  /** Returns whether it ends after its open responses, and takes no more requests. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** Returns whether responses are open that were not sent at once. */
  get isBusy(): boolean {
    return this.#open.size > 0
  }

  /** Counts its traffic from now on. */
  count(counted: CountedConnection): void {
    this.#counted = counted
    this.#socket.once('close', () => {
      this.carry()
      counted.end()
    })
  }

  /** Counts what was transferred since the last time. */
  carry(): void {
    const { bytesRead, bytesWritten } = this.#socket
    this.#counted.carry(bytesRead - this.#received, bytesWritten - this.#sent)
    this.#received = bytesRead
    this.#sent = bytesWritten
  }

  /** Notes the end of the handshake. */
  secured(tls: TLSSocket): void {
    this.#tls = tls
  }

  /** Notes that the visitor speaks HTTP/2. */
  speaksHttp2(session: ServerHttp2Session): void {
    this.#session = session
  }

  /** Notes that a request has come. */
  asked(): void {
    this.#hasAsked = true
  }

  /** Counts a response that takes a while. @returns whether the connection may have one more */
  began(response: VisitorResponse): boolean {
    this.#open.add(response)
    response.once('close', () => {
      this.#open.delete(response)
      if (this.#isEnding) this.#endIfIdle()
    })
    return this.#session !== undefined || this.#open.size <= PIPELINED_REQUESTS_MAX
  }

  /**
   * Ends it as soon as its open responses have been sent, or when they take too long. A visitor who has just connected
   * may be sending the first request, so a short time remains for it.
   */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#cutAfter(CACHE_CLOSING_MAX_MS)
    if (this.#hasAsked) this.#session?.close()
    this.#endIfIdle()
  }

  /** Ends it now. The kernel drops what it has buffered for a visitor who does not read. */
  cut(): void {
    this.#session?.destroy()
    resetSocket(this.#socket, this.#tls)
    // When the connection ends, Node ends responses that wait for others, but not those behind an upgrade request.
    for (const response of this.#open) if (!('stream' in response)) response.destroy()
  }

  #endIfIdle(): void {
    if (this.isBusy || this.#socket.destroyed) return
    this.#cutAfter(CLOSE_GRACE_MS)
    if (!this.#hasAsked) return
    if (this.#session === undefined) (this.#tls ?? this.#socket).end()
    else this.#session.close()
  }

  /** The earliest deadline applies. */
  #cutAfter(ms: number): void {
    const at = performance.now() + ms
    if (at >= this.#cutAt) return
    if (this.#cutting === undefined) this.#socket.once('close', () => clearTimeout(this.#cutting))
    clearTimeout(this.#cutting)
    this.#cutAt = at
    this.#cutting = setTimeout(() => this.cut(), ms).unref()
  }
}
