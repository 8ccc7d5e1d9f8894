// Opens the dedicated TCP port of a lease: every connection to it is a visitor of that lease.

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { networkOf, normalizeIp } from '../../core/client-address/ip-address.ts'
import { TCP_KEEPALIVE_MS } from '../../core/ingress/sni-listener.ts'
import type { BoundPort } from '../../core/ingress/udp-port.ts'
import { mayHave, NetworkCounts } from '../../core/rate-limit/fair-share.ts'

/** Connections to one dedicated TCP port. */
const PORT_CONNECTIONS_PER_LEASE_MAX = 2048

export class TcpPorts {
  readonly #max: number
  readonly #host: string | undefined
  readonly #maxPerLease: number
  /** Open connections to all ports. */
  #connections = 0

  /** @param host the address to open ports at; undefined: every address */
  constructor(max: number, host?: string, maxPerLease: number = PORT_CONNECTIONS_PER_LEASE_MAX) {
    this.#max = max
    this.#host = host
    this.#maxPerLease = maxPerLease
  }

  /**
   * Opens a port at the addresses of the SNI listener. Each network has a share of its connections.
   * Rejects when the port cannot be bound.
   */
  async open(port: number, serve: (visitor: Socket) => void): Promise<BoundPort> {
    const visitors = new Set<Socket>()
    const networks = new NetworkCounts()
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (visitor) => {
      visitor.on('error', () => {})
      // A visitor who has already left has no address.
      const network = networkOf(normalizeIp(visitor.remoteAddress ?? '') ?? '')
      const free = this.#maxPerLease - visitors.size
      const hasRoom =
        mayHave(1, visitors.size, this.#max - this.#connections, this.#max) &&
        networks.mayHave(1, network, free, this.#maxPerLease)
      if (!hasRoom) return resetSocket(visitor)
      this.#connections += 1
      visitors.add(visitor)
      networks.add(network, 1)
      visitor.once('close', () => {
        this.#connections -= 1
        visitors.delete(visitor)
        networks.add(network, -1)
      })
      visitor.setKeepAlive(true, TCP_KEEPALIVE_MS)
      serve(visitor)
    })
    server.maxConnections = this.#maxPerLease
    // This is a connection that the system could not accept; `once` below rejects when the port cannot be bound.
    server.on('error', () => {})
    server.listen({ port, host: this.#host })
    await once(server, 'listening')
    return {
      close: () => {
        server.close()
        for (const visitor of visitors) visitor.destroy()
      },
    }
  }
}
