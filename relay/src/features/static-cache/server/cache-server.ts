// The server of stored files: it ends TLS for hostnames of sites that have stored files, and speaks HTTP with their
// visitors.

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse, Http2Session, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { StrictRequests } from '@svc/node-kit/http'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { ServerCertificates } from '../../../core/certificates/server-certificate.ts'
import { WriteTimeouts } from '../../../core/http/write-timeouts.ts'
import { CLOSE_GRACE_MS } from '../../../core/ingress/open-sockets.ts'
import { UnderlyingSockets } from '../../../core/reverse/tls-underlying-socket.ts'
import { type CountedConnection, UNCOUNTED } from '../../../core/traffic/counted-connection.ts'
import type { VisitorRequest, VisitorResponse } from '../live-site/live-sites.ts'
import { createHttp1, createHttp2, endWhenIdle } from './http-servers.ts'
import { VISITOR_WRITE_DEADLINE_MS } from './limits.ts'
import { SiteConnections } from './site-connections.ts'
import { SiteRequests, type SiteRequestsParts } from './site-requests.ts'
import { TlsEndpoints } from './tls-endpoints.ts'
import { VisitorConnection } from './visitor-connection.ts'

export interface CacheServerParts extends SiteRequestsParts {
  certificates: Pick<ServerCertificates, 'of'>
  /** Counts the traffic of a new connection of a visitor. @default nothing does */
  count?: (connection: VisitorConnection) => CountedConnection
}

export interface CacheServer {
  /**
   * Serves a visitor of a site with stored files. Resolves when the handshake can begin.
   * @param socket paused, as if nothing had been read from it
   * @param serverName the hostname in the visitor's ClientHello
   * @param clientIp client address; undefined for a trusted proxy that named no client
   */
  serve(socket: Socket, serverName: string, clientIp: string | undefined): Promise<void>
  /** Open connections of visitors. */
  readonly connections: number
  /** Counts what open connections have transferred since the last time. */
  sample(): void
  /** Ends all connections: each after its response, and all of them a little later. */
  close(): Promise<void>
}

export function createCacheServer(parts: CacheServerParts): CacheServer {
  return new Server(parts)
}

class Server implements CacheServer {
  readonly #count: Required<CacheServerParts>['count']
  readonly #requests: SiteRequests
  readonly #endpoints: TlsEndpoints
  readonly #connections = new SiteConnections()
  readonly #tcpSockets = new UnderlyingSockets()
  readonly #writeTimeouts = new WriteTimeouts(VISITOR_WRITE_DEADLINE_MS)
  readonly #http1 = createHttp1()
  readonly #http2 = createHttp2()
  /** By each object that Node has for a connection: the TCP socket, the TLS socket, or the session. */
  readonly #byTransport = new WeakMap<object, VisitorConnection>()
  /** The connection whose session is being created. */
  #starting: VisitorConnection | undefined
  #isClosed = false

  constructor(parts: CacheServerParts) {
    this.#count = parts.count ?? (() => UNCOUNTED)
    this.#requests = new SiteRequests(parts)
    this.#endpoints = new TlsEndpoints(parts.certificates, (tls) => this.#onSecure(tls))
    const strict = new StrictRequests(this.#http1, 'connection')
    // A visitor who waits for 100 (RFC 9110 §10.1.1) gets it from the live site, if at all: Node would send it before
    // the body is needed.
    for (const event of ['request', 'checkContinue'])
      this.#http1.on(
        event,
        strict.requests((request, response) => this.#onRequest(request.socket, request, response)),
      )
    this.#http1.on(
      'upgrade',
      strict.upgrades((request, socket, head) => this.#onUpgrade(request, socket, head)),
    )
    this.#http2.on('session', (session) => this.#onSession(session))
    for (const event of ['request', 'checkContinue'])
      this.#http2.on(event, (request: Http2ServerRequest, response: Http2ServerResponse) =>
        this.#onRequest(request.stream.session, request, response),
      )
    parts.snapshots.onClosed((hostname, isBanned) => this.#onClosed(hostname, isBanned))
  }

  async serve(socket: Socket, serverName: string, clientIp: string | undefined): Promise<void> {
    const hostname = serverName.toLowerCase()
    const connection = new VisitorConnection(socket, hostname, clientIp)
    if (this.#isClosed || !this.#connections.add(connection)) return connection.cut()
    connection.count(this.#count(connection))
    socket.once('close', () => this.#connections.remove(connection))
    this.#byTransport.set(socket, connection)
    const endpoint = this.#endpoints.of(hostname)
    if (endpoint === undefined) {
      socket.end(alertRecord(ALERT.internal_error))
      socket.destroySoon()
      return
    }
    this.#tcpSockets.add(socket)
    endpoint.emit('connection', socket)
  }

  get connections(): number {
    return this.#connections.size
  }

  sample(): void {
    for (const connection of this.#connections.all()) connection.carry()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const open = this.#connections.all()
    for (const connection of open) connection.end()
    await Promise.race([Promise.all(open.map(({ closed }) => closed)), late()])
    for (const connection of this.#connections.all()) connection.cut()
    this.#http1.close()
    this.#http2.close()
    this.#requests.close()
  }

  #onClosed(hostname: string, isBanned: boolean): void {
    for (const connection of this.#connections.of(hostname)) {
      if (isBanned) connection.cut()
      else connection.end()
    }
  }

  #onSecure(tls: TLSSocket): void {
    const socket = this.#tcpSockets.beneath(tls)
    const connection = socket && this.#byTransport.get(socket)
    if (connection === undefined) {
      tls.destroy()
      return
    }
    connection.secured(tls)
    this.#writeTimeouts.watch(tls, () => connection.cut())
    if (tls.alpnProtocol !== 'h2') {
      this.#byTransport.set(tls, connection)
      this.#http1.emit('connection', tls)
      return
    }
    this.#starting = connection
    this.#http2.emit('connection', tls)
    this.#starting = undefined
  }

  #onSession(session: ServerHttp2Session): void {
    const connection = this.#starting
    if (connection === undefined) {
      session.destroy()
      return
    }
    this.#byTransport.set(session, connection)
    connection.speaksHttp2(session)
    endWhenIdle(
      session,
      () => connection.isBusy,
      () => connection.end(),
    )
  }

  #onRequest(
    transport: Http2Session | Duplex | undefined,
    request: VisitorRequest,
    response: VisitorResponse,
  ): void {
    const connection = transport && this.#byTransport.get(transport)
    if (connection === undefined) {
      response.destroy()
      return
    }
    connection.asked()
    void this.#requests.answer(request, response, connection)
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const connection = this.#byTransport.get(socket)
    if (connection === undefined) {
      socket.destroy()
      return
    }
    // Node would write the rest of earlier responses among the bytes of the other protocol.
    if (connection.isBusy) {
      connection.cut()
      return
    }
    connection.asked()
    void this.#requests.upgrade(request, socket, head, connection)
  }
}

function late(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS).unref())
}
