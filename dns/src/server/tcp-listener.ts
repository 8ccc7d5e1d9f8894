// Answers queries over TCP at one address (RFC 7766).

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { Client } from './client.ts'
import { TCP_CONNECTIONS_MAX, TCP_CONNECTIONS_PER_NETWORK_MAX } from './limits.ts'
import type { Responder } from './responder.ts'
import { TcpConnection, type TcpConnectionLimits } from './tcp-connection.ts'
import type { Listener } from './udp-listener.ts'

const BACKLOG = 256

export interface TcpLimits {
  connections: number
  perNetwork: number
  /** The limits of each connection. */
  each?: TcpConnectionLimits
}

const LIMITS: TcpLimits = {
  connections: TCP_CONNECTIONS_MAX,
  perNetwork: TCP_CONNECTIONS_PER_NETWORK_MAX,
}

/** The open connections of all listeners. */
export class TcpConnections {
  readonly #responder: Responder
  readonly #limits: TcpLimits
  /** The longest idle one comes first. */
  readonly #open = new Set<TcpConnection>()
  readonly #perNetwork = new Map<string, number>()

  constructor(responder: Responder, limits: TcpLimits = LIMITS) {
    this.#responder = responder
    this.#limits = limits
  }

  accept(socket: Socket): void {
    const client = new Client().set(socket.remoteAddress ?? '')
    const { network } = client
    const count = this.#perNetwork.get(network) ?? 0
    if (socket.remoteAddress === undefined || count >= this.#limits.perNetwork) {
      resetSocket(socket)
      return
    }
    if (this.#open.size >= this.#limits.connections) this.#closeIdlest()
    const connection = new TcpConnection(socket, {
      answer: (message) => this.#responder.respond(message, client, 'tcp'),
      onQuery: () => this.#moveToEnd(connection),
      limits: this.#limits.each,
    })
    this.#perNetwork.set(network, count + 1)
    this.#open.add(connection)
    this.#responder.counts.connections = this.#open.size
    socket.once('close', () => this.#forget(connection, network))
  }

  close(): void {
    for (const connection of this.#open) connection.close()
  }

  #closeIdlest(): void {
    const [idlest] = this.#open
    idlest?.close()
    if (idlest) this.#open.delete(idlest)
  }

  #moveToEnd(connection: TcpConnection): void {
    if (this.#open.delete(connection)) this.#open.add(connection)
  }

  #forget(connection: TcpConnection, network: string): void {
    this.#open.delete(connection)
    this.#responder.counts.connections = this.#open.size
    const left = (this.#perNetwork.get(network) ?? 1) - 1
    if (left > 0) this.#perNetwork.set(network, left)
    else this.#perNetwork.delete(network)
  }
}

/** @throws the system's error, when the address cannot be bound */
export async function listenOverTcp(
  { host, port, onEnd }: { host: string; port: number; onEnd(error: Error): void },
  connections: TcpConnections,
): Promise<Listener> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => connections.accept(socket))
  server.listen({ host, port, backlog: BACKLOG, ipv6Only: true, exclusive: true })
  await once(server, 'listening')
  // An error means that a connection could not be accepted, or that the listener has failed.
  server.on('error', (error) => {
    if (!server.listening) onEnd(error)
  })
  return { port: portOf(server), close: () => close(server) }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Closes the listener only; {@link TcpConnections} owns the connections. */
async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}
