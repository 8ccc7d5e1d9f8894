// The plain HTTP server at the relay's address on the overlay. It answers only peers, and identifies each by its
// overlay address.

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lingeringEnd, REQUEST_HEAD_MAX_BYTES, StrictRequests } from '@svc/node-kit/http'
import { createServer } from '@svc/node-kit/http-module'
import { resetSocket } from '@svc/node-kit/sockets'
import { failure, sendError } from '../../core/api/http/envelope.ts'
import { answerInTurn, requireNoOpenResponse } from '../../core/api/http/open-responses.ts'
import { requireNoBody } from '../../core/api/http/request.ts'
import { RelayError } from '../../core/errors.ts'
import { API_WRITE_DEADLINE_MS, WriteTimeouts } from '../../core/http/write-timeouts.ts'
import type { Logger } from '../../core/log/log.ts'
import {
  OVERLAY_IDLE_MS,
  OVERLAY_KEEP_ALIVE_MS,
  OVERLAY_PEER_CROWDED_SHARE,
  OVERLAY_PEER_SHARE,
} from './limits.ts'
import type { OverlayNetwork, OverlayPeer } from './overlay-network.ts'

/** Answers one request of a peer, or throws a RelayError, which becomes the answer. */
export type OverlayHandler = (
  peer: OverlayPeer,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>

/**
 * Takes over the connection of a request with `Upgrade`. A RelayError becomes the answer, unless something was written.
 * @param socket has a listener for errors, which destroys it
 * @param head bytes that came after the request
 */
export type OverlayUpgrade = (
  peer: OverlayPeer,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
) => void | Promise<void>

export interface OverlayTable {
  /** By `METHOD /path`. */
  handlers: ReadonlyMap<string, OverlayHandler>
  /** By path. */
  upgrades: ReadonlyMap<string, OverlayUpgrade>
}

/** Deadlines and intervals of the server, in milliseconds. */
export interface OverlayDeadlines {
  /** For the head of a request, and for the whole request. */
  requestMs: number
  /** The interval at which the server checks for requests that are too slow. */
  requestCheckMs: number
  /** Time after which a connection is closed whose peer reads nothing. */
  writeMs: number
  /** The interval at which the server checks whether connections still belong to the peers that opened them. */
  peersCheckMs: number
}

export const OVERLAY_DEADLINES: OverlayDeadlines = {
  requestMs: 10_000,
  requestCheckMs: 1_000,
  writeMs: API_WRITE_DEADLINE_MS,
  peersCheckMs: 1_000,
}

/** The reasons for closing a connection before its first request. */
export type OverlayRefusal = 'no_peer' | 'peer_full' | 'full'

export class OverlayServer {
  /** Connections that were refused. */
  readonly refused: Record<OverlayRefusal, number> = { no_peer: 0, peer_full: 0, full: 0 }
  readonly #network: OverlayNetwork
  readonly #table: OverlayTable
  readonly #connectionsMax: number
  readonly #log: Logger
  readonly #deadlines: OverlayDeadlines
  readonly #server: Server
  /** Set while connections are open. */
  #checking: NodeJS.Timeout | undefined
  #listening: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** Every open connection, with the peer that opened it. */
  readonly #open = new Map<Socket, OverlayPeer>()
  /** Open connections of each peer, by its identity. */
  readonly #counts = new Map<string, number>()
  /** For connections that are not bridges: those have their own limits. */
  readonly #writeTimeouts: WriteTimeouts

  /** @param connectionsMax connections that may be open at once */
  constructor(
    network: OverlayNetwork,
    table: OverlayTable,
    connectionsMax: number,
    log: Logger,
    deadlines: OverlayDeadlines = OVERLAY_DEADLINES,
  ) {
    this.#network = network
    this.#connectionsMax = connectionsMax
    this.#table = table
    this.#log = log
    this.#deadlines = deadlines
    this.#writeTimeouts = new WriteTimeouts(deadlines.writeMs)
    this.#server = createServer({
      maxHeaderSize: REQUEST_HEAD_MAX_BYTES,
      headersTimeout: deadlines.requestMs,
      requestTimeout: deadlines.requestMs,
      connectionsCheckingInterval: deadlines.requestCheckMs,
      keepAliveTimeout: OVERLAY_IDLE_MS,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: OVERLAY_KEEP_ALIVE_MS,
      // For any other path, Node would hand over a connection that nobody reads.
      shouldUpgradeCallback: (request) => table.upgrades.has(pathOf(request)),
    })
    const strict = new StrictRequests(this.#server, 'connection')
    this.#server.on(
      'request',
      strict.requests((request, response) => {
        const { socket } = request
        if (socket.destroyed) return
        if (!answerInTurn(socket, response, () => void this.#answer(request, response))) resetSocket(socket)
      }),
    )
    this.#server.on('connection', (socket) => this.#admit(socket))
    this.#server.on(
      'upgrade',
      strict.upgrades((request, socket, head) => void this.#upgrade(request, socket as Socket, head)),
    )
    // An error at the start rejects `listen`; a later one means that the system could not accept a connection.
    this.#server.on('error', () => {})
  }

  /** Number of open connections, bridges included. */
  get connections(): number {
    return this.#open.size
  }

  /** Listens only at the overlay address, unless the server was closed. @throws Error of the system */
  async listen(port: number): Promise<void> {
    if (this.#isClosed) return
    const listening = once(this.#server, 'listening')
    this.#server.listen({ host: this.#network.address, port })
    this.#listening = listening
    await listening
  }

  /**
   * Cuts the connections of the selected peers, such as those that the operator banned. The kernel drops what it has
   * buffered for them, since they may be gone.
   */
  cut(isMeant: (peer: OverlayPeer) => boolean): void {
    for (const [socket, peer] of this.#open) if (isMeant(peer)) resetSocket(socket)
  }

  /** Prevents a later `listen`, too. */
  async close(): Promise<void> {
    this.#isClosed = true
    // A server that is about to listen cannot be closed.
    await this.#listening.catch(() => {})
    this.cut(() => true)
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  #admit(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    const peer = this.#peerOf(socket)
    const refusal = this.#refusalOf(peer)
    if (peer === undefined || refusal !== undefined) {
      this.refused[refusal ?? 'no_peer'] += 1
      socket.destroy()
      return
    }
    const { identity } = peer
    this.#open.set(socket, peer)
    this.#watch(socket)
    this.#checking ??= setInterval(() => this.#cutStrangers(), this.#deadlines.peersCheckMs).unref()
    this.#counts.set(identity, (this.#counts.get(identity) ?? 0) + 1)
    socket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) {
        clearInterval(this.#checking)
        this.#checking = undefined
      }
      const rest = this.#counts.get(identity)! - 1
      if (rest === 0) this.#counts.delete(identity)
      else this.#counts.set(identity, rest)
    })
  }

  /** Cuts connections whose relay is no longer a peer, or whose address now belongs to another relay. */
  #cutStrangers(): void {
    const now = new Map<string, string | undefined>()
    this.cut(({ identity, overlayAddress: address }) => {
      if (!now.has(address)) now.set(address, this.#network.peerAt(address)?.identity)
      return now.get(address) !== identity
    })
  }

  /** Ends a connection whose peer reads nothing. */
  #watch(socket: Socket): void {
    this.#writeTimeouts.watch(socket, () => resetSocket(socket))
  }

  #refusalOf(peer: OverlayPeer | undefined): OverlayRefusal | undefined {
    if (peer === undefined) return 'no_peer'
    const max = this.#connectionsMax
    const share = this.#open.size >= max / 2 ? OVERLAY_PEER_CROWDED_SHARE : OVERLAY_PEER_SHARE
    if ((this.#counts.get(peer.identity) ?? 0) >= Math.ceil(max * share)) return 'peer_full'
    return this.#open.size >= max ? 'full' : undefined
  }

  #peerOf({ remoteAddress }: Socket): OverlayPeer | undefined {
    return remoteAddress === undefined ? undefined : this.#network.peerAt(remoteAddress)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy())
    const { socket } = request
    // The relay may have ceased to be a peer since it connected.
    const peer = this.#peerOf(socket)
    if (peer === undefined) return void socket.destroy()
    try {
      await this.#handlerOf(request)(peer, request, response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else sendError(response, this.#refusal(error, peer, request))
    }
  }

  #handlerOf(request: IncomingMessage): OverlayHandler {
    const path = pathOf(request)
    const { handlers, upgrades } = this.#table
    const handler = handlers.get(`${request.method} ${path}`)
    if (handler !== undefined) return handler
    const allowed = [...handlers.keys()].flatMap((key) =>
      key.endsWith(` ${path}`) ? [key.split(' ')[0]!] : [],
    )
    if (allowed.length > 0)
      throw new RelayError('method_not_allowed', `${path} allows ${allowed.join(', ')}`, {
        Allow: allowed.join(', '),
      })
    if (upgrades.has(path)) throw new RelayError('invalid_request', `${path} needs an upgrade`)
    throw new RelayError('invalid_request', 'the overlay has no such path', {}, NOT_FOUND)
  }

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const written = socket.bytesWritten
    const peer = this.#peerOf(socket)
    if (peer === undefined) return void socket.destroy()
    try {
      requireNoOpenResponse(socket)
      requireNoBody(request)
      this.#writeTimeouts.forget(socket)
      await this.#table.upgrades.get(pathOf(request))!(peer, request, socket, head)
    } catch (error) {
      const refusal = this.#refusal(error, peer, request)
      if (socket.bytesWritten !== written) return void socket.destroy()
      this.#watch(socket)
      refuseUpgrade(socket, refusal)
    }
  }

  /** Returns the answer to a peer. An error that is not a RelayError is a fault of this relay, and is logged. */
  #refusal(error: unknown, { origin }: OverlayPeer, request: IncomingMessage): RelayError {
    if (error instanceof RelayError) return error
    this.#log.error({ err: error, peer: origin, path: pathOf(request) }, 'a request over the overlay failed')
    return new RelayError('internal', 'the relay could not answer')
  }
}

const NOT_FOUND = 404

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** Answers on a connection that has no response object, and ends it. */
function refuseUpgrade(socket: Socket, error: RelayError): void {
  const body = JSON.stringify(failure(error))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': `${Buffer.byteLength(body)}`,
    Connection: 'close',
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  lingeringEnd(socket, `HTTP/1.1 ${error.status} \r\n${lines.join('')}\r\n${body}`)
}
