// Connections of sites to the public port of a neighbour on the overlay: `GET /sdk/route/relay`, here and at the
// neighbour. A site speaks TLS with the neighbour inside, so that its own relay learns only which relay it is, and the
// neighbour does not learn the site.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { HEADER, HOP_RELAYS_MAX, NEIGHBOUR_UPGRADE, PATH } from '@svc/protocol'
import type { Pipe } from '../../../core/bridge/pipe.ts'
import type { ClientAddresses } from '../../../core/client-address/client-addresses.ts'
import { RelayError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { IdentityBandwidths } from '../../../core/policy/identity-bandwidths.ts'
import type { PolicyRules } from '../../../core/policy/policy-rules.ts'
import { upgradeAtPeer } from '../ask-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import { neighbourAt } from './hop-handover.ts'
import { NEIGHBOUR_CONNECTIONS } from './limits.ts'
import { Quota, type Quotas } from './quota.ts'

export interface NeighboursParts {
  network: OverlayNetwork
  policy: Pick<PolicyRules, 'blocks'>
  bandwidths: IdentityBandwidths
  pipe: Pipe
  /** The connections that leases have open at each peer, by its identity. */
  peerQuotas: Quotas<string, Lease>
  /** Serves a connection as one to this relay's public port. */
  serveVisitor: (socket: Socket) => void
  clientAddresses: Pick<ClientAddresses, 'distrust'>
}

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${NEIGHBOUR_UPGRADE}\r\n\r\n`

export class Neighbours {
  readonly #parts: NeighboursParts
  /** Number of relays that each connection from a peer has passed, by address and port of the peer. */
  readonly #passed = new Map<string, number>()
  readonly #room = new Quota<Lease>(NEIGHBOUR_CONNECTIONS)

  constructor(parts: NeighboursParts) {
    this.#parts = parts
  }

  /** Number of connections of sites to neighbours. */
  get size(): number {
    return this.#room.size
  }

  /**
   * Joins a site's connection to the public port of the neighbour that it names. Resolves when they are joined.
   * @param head bytes that came after the request
   * @throws RelayError when the relay refuses it, before anything was written
   */
  async connect(lease: Lease, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { network, policy, bandwidths, pipe, peerQuotas } = this.#parts
    if (request.headers.upgrade?.toLowerCase() !== NEIGHBOUR_UPGRADE)
      throw new RelayError('invalid_request', `${PATH.neighbour} needs an upgrade to ${NEIGHBOUR_UPGRADE}`)
    if (policy.blocks(lease)) throw new RelayError('lease_rejected', 'the policy blocks this lease')
    const relays = (this.#passed.get(keyOf(request.socket)) ?? 0) + 1
    requireFew(relays)
    const peer = neighbourAt(network, `${request.headers[HEADER.neighbour.toLowerCase()] ?? ''}`)
    const refusal = this.#room.refusalOf(lease) ?? peerQuotas.refusalOf(peer.identity, lease)
    if (refusal === 'full')
      throw new RelayError('feature_unavailable', 'this relay has no room for another such connection')
    if (refusal === 'holder_full')
      throw new RelayError('rate_limited', 'the lease has too many such connections', { 'Retry-After': '5' })
    const giveBack = [this.#room.take(lease), peerQuotas.take(peer.identity, lease)]
    const gone = new AbortController()
    const end = (): void => {
      gone.abort()
      socket.destroy()
    }
    socket.once('close', end)
    lease.ended.addEventListener('abort', end)
    const release = lease.onBlock(end)
    const over = (): void => {
      release()
      lease.ended.removeEventListener('abort', end)
      for (const each of giveBack) each()
    }
    try {
      const headers = { [HEADER.hopCount]: `${relays}` }
      const upgrade = { path: PATH.neighbour, upgrade: NEIGHBOUR_UPGRADE, headers }
      const next = await upgradeAtPeer(network, peer, upgrade, gone.signal)
      socket.write(SWITCHING_PROTOCOLS)
      if (head.length > 0) socket.unshift(head)
      void pipe(socket, next, bandwidths.of(lease)).then(over)
    } catch (error) {
      socket.off('close', end)
      over()
      throw error
    }
  }

  /** Accepts a connection of a peer's site as one to the public port. @throws RelayError */
  accept(_peer: OverlayPeer, request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { clientAddresses, serveVisitor } = this.#parts
    const relays = Number(/^[1-9]$/.exec(`${request.headers[HEADER.hopCount.toLowerCase()] ?? ''}`)?.[0])
    if (Number.isNaN(relays))
      throw new RelayError('invalid_request', 'the connection came without a number of relays')
    requireFew(relays)
    const key = keyOf(socket)
    this.#passed.set(key, relays)
    socket.once('close', () => this.#passed.delete(key))
    clientAddresses.distrust(socket)
    socket.allowHalfOpen = true
    socket.write(SWITCHING_PROTOCOLS)
    if (head.length > 0) socket.unshift(head)
    serveVisitor(socket)
  }
}

/** Otherwise connections could nest without end, from relay to relay and back. @throws RelayError */
function requireFew(relays: number): void {
  if (relays >= HOP_RELAYS_MAX)
    throw new RelayError('invalid_request', `a route has at most ${HOP_RELAYS_MAX} relays`)
}

/** Identifies a connection. The socket object would not do: a request has a different one, of TLS. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
