// Takes a hop route from its owner, and delivers it to the relay that it is for: `POST /sdk/route` at the next relay of
// a route.

import { GcraLimiter } from '@svc/node-kit/gcra'
import { type HopRouteMethod, PATH } from '@svc/protocol'
import { RelayError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import { sendToPeer } from '../ask-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import { charge, type HopChanges } from './hop-changes.ts'
import { HopError } from './hop-error.ts'
import type { HopRoutes } from './hop-routes.ts'
import { HOP_HANDOVERS_PER_LEASE } from './limits.ts'
import { digestOf } from './tokens.ts'

interface HopHandoverParts {
  origin: string
  network: OverlayNetwork
  hops: HopRoutes
  changes: HopChanges
}

export class HopHandover {
  readonly #parts: HopHandoverParts
  readonly #rates = new WeakMap<Lease, GcraLimiter>()

  constructor(parts: HopHandoverParts) {
    this.#parts = parts
  }

  /**
   * Delivers a route to its relay over the overlay. The token of the route continues along this relay's own route with
   * that token or, if it has none, ends at the lease.
   * @param value parsed JSON
   * @throws RelayError the refusal of this relay, or that of the other one
   */
  async handOver(lease: Lease, method: HopRouteMethod, value: unknown): Promise<void> {
    const { network, changes } = this.#parts
    const { route, peer, isLast } = changes.counted(() => this.#check(lease, method, value))
    if (isLast && method === 'POST') changes.counted(() => changes.arrive(method, route, lease))
    await sendToPeer(network, peer, { method, path: PATH.hop, body: route })
    if (isLast && method === 'DELETE') changes.counted(() => changes.arrive(method, route, lease))
  }

  #check(
    lease: Lease,
    method: HopRouteMethod,
    value: unknown,
  ): { route: ReturnType<HopChanges['check']>['route']; peer: OverlayPeer; isLast: boolean } {
    const { origin, network, hops, changes } = this.#parts
    const rate = this.#rates.get(lease) ?? new GcraLimiter(1, HOP_HANDOVERS_PER_LEASE)
    this.#rates.set(lease, rate)
    charge(rate)
    changes.requireAllowed(lease)
    const { route, owner } = changes.check(method, value)
    if (owner !== lease.identity.address)
      throw new HopError('forged', 'the lease belongs to another owner than the hop route')
    if (route.forward_relay !== origin)
      throw new HopError('wrong_relay', `the next relay of the route is ${route.forward_relay}`)
    const known = hops.find(digestOf(route.forward_token))
    if (known !== undefined && (known.lease !== lease || known.hostnameHash !== route.hostname_hash))
      throw new HopError('wrong_hostname', 'forward_token is on a route of another hostname')
    const peer = neighbourAt(network, route.relay_url)
    return { route, peer, isLast: known?.next === undefined }
  }
}

/** @throws RelayError when no relay at that origin is a peer on the overlay */
export function neighbourAt(network: OverlayNetwork, origin: string): OverlayPeer {
  for (const peer of network.peers()) if (peer.origin === origin) return peer
  throw new RelayError('feature_unavailable', 'this relay has no neighbour at that address on the overlay')
}
