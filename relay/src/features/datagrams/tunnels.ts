// Manages the tunnels of this relay: a connection has no lease until its first stream brings the token.

import { forATurn } from '@svc/node-kit/pauses'
import {
  DatagramQueue,
  datagramsOf,
  type ErrorCode,
  TUNNEL_CLOSE,
  TUNNEL_HELLO_DEADLINE_MS,
} from '@svc/protocol'
import type { LeaseCredentials } from '../../core/auth/lease-authorizer.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import { monotonic } from '../../core/clock.ts'
import { RelayError } from '../../core/errors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { NetworkCounts } from '../../core/rate-limit/fair-share.ts'
import { TUNNEL_DATAGRAMS_PER_TICK, TUNNELS_PENDING_MAX, TUNNELS_PENDING_PER_NETWORK_MAX } from './limits.ts'
import type { QuicEvents, TunnelConnection } from './quic.ts'
import { TunnelAuthentication } from './tunnel-authentication.ts'

/** The tunnels in use, each by its lease. */
export type LeaseTunnels = Map<Lease, TunnelConnection>

export interface TunnelParts {
  /** This class updates it. */
  byLease: LeaseTunnels
  credentials: Pick<LeaseCredentials, 'leaseOf'>
  policy: Pick<Policy, 'blocks' | 'isAnyIpBanned'>
  counters: RelayCounters
  /** Called with each datagram from the tunnel of a lease. */
  received: (datagram: Uint8Array, lease: Lease) => void
  log: { debug(fields: object, message: string): void }
}

export class Tunnels {
  readonly #parts: TunnelParts
  /** Number of connections without a lease, by network. */
  readonly #pending = new NetworkCounts()
  #pendingCount = 0

  constructor(parts: TunnelParts) {
    this.#parts = parts
  }

  /** Takes a connection whose handshake is complete. */
  accept(connection: TunnelConnection): QuicEvents {
    if (!this.#hasRoom(connection)) {
      connection.close(TUNNEL_CLOSE.busy, 'too many connections without a token')
      return {
        stream: (stream) => stream.on('error', () => {}).destroy(),
        datagram: () => {},
        closed: () => {},
      }
    }
    const settle = this.#trackPending(connection)
    const { counters, received, log } = this.#parts
    let lease: Lease | undefined
    // The QUIC library delivers a thousand datagrams at once; while the relay handled them all, visitors' sockets would
    // overflow.
    const inbox = new DatagramQueue<Uint8Array>({
      pass: (datagram) => lease && received(datagram, lease),
      tooOld: () => counters.datagramsDropped.add({ reason: 'too_old' }),
      batchSize: TUNNEL_DATAGRAMS_PER_TICK,
      pause: forATurn,
      now: monotonic,
    })
    let authentication: TunnelAuthentication | undefined
    let detach = (): void => {}
    return {
      stream: (stream) => {
        if (authentication !== undefined) {
          stream.on('error', () => {}).destroy()
          return
        }
        authentication = new TunnelAuthentication(stream, {
          admit: ({ access_token, aggregates }) => {
            const leaseOrError = this.#leaseOf(access_token, connection.clientIp)
            if (typeof leaseOrError === 'string') {
              log.debug({ clientIp: connection.clientIp, code: leaseOrError }, 'datagram tunnel refused')
              return leaseOrError
            }
            lease = leaseOrError
            settle()
            if (aggregates) connection.aggregate()
            detach = this.#attach(connection, lease)
            return undefined
          },
          fail: (code, reason) => connection.close(code, reason),
        })
      },
      datagram: (bytes, at) => {
        for (const datagram of datagramsOf(bytes))
          if (lease === undefined) counters.datagramsDropped.add({ reason: 'unauthenticated' })
          else if (!inbox.push(datagram, at)) counters.datagramsDropped.add({ reason: 'queue_full' })
      },
      closed: () => {
        settle()
        detach()
        inbox.clear()
        lease = undefined
      },
    }
  }

  #hasRoom({ clientIp }: TunnelConnection): boolean {
    const network = networkOf(clientIp)
    const mayHave = this.#pending.mayHave(
      1,
      network,
      TUNNELS_PENDING_MAX - this.#pendingCount,
      TUNNELS_PENDING_MAX,
    )
    return mayHave && this.#pending.of(network) < TUNNELS_PENDING_PER_NETWORK_MAX
  }

  /** @returns a function to call, once or more, when the connection has a lease or is closed */
  #trackPending(connection: TunnelConnection): () => void {
    const network = networkOf(connection.clientIp)
    this.#pendingCount += 1
    this.#pending.add(network, 1)
    const deadline = setTimeout(
      () => connection.close(TUNNEL_CLOSE.refused, 'no token in time'),
      TUNNEL_HELLO_DEADLINE_MS,
    ).unref()
    let isOver = false
    return () => {
      clearTimeout(deadline)
      if (isOver) return
      isOver = true
      this.#pendingCount -= 1
      this.#pending.add(network, -1)
    }
  }

  #leaseOf(token: string, clientIp: string): Lease | ErrorCode {
    const { credentials, policy } = this.#parts
    if (policy.isAnyIpBanned(clientIp)) return 'ip_banned'
    try {
      const lease = credentials.leaseOf(token, 'lease')
      if (!lease.has('udp')) return 'transport_mismatch'
      return policy.blocks(lease) ? 'lease_rejected' : lease
    } catch (error) {
      return error instanceof RelayError ? error.code : 'internal'
    }
  }

  /** Makes the connection the lease's tunnel. @returns a function to call when the connection is closed */
  #attach(connection: TunnelConnection, lease: Lease): () => void {
    const { byLease } = this.#parts
    const previous = byLease.get(lease)
    byLease.set(lease, connection)
    // An SDK that reconnects has lost its previous connection, even if the relay has not noticed yet.
    if (previous === undefined) this.#parts.counters.tunnels += 1
    else previous.close(TUNNEL_CLOSE.replaced, 'the lease has a newer tunnel')
    const end = (): void => connection.close(TUNNEL_CLOSE.leaseEnded, 'the lease has ended')
    lease.ended.addEventListener('abort', end, { once: true })
    const release = lease.onBlock(() => connection.close(TUNNEL_CLOSE.leaseEnded, 'the lease is not allowed'))
    return () => {
      lease.ended.removeEventListener('abort', end)
      release()
      if (byLease.get(lease) !== connection) return
      byLease.delete(lease)
      this.#parts.counters.tunnels -= 1
    }
  }
}
