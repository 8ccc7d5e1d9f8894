// Checks a signed hop route, and adds it to those of this relay or removes it.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter } from '@svc/node-kit/gcra'
import { HOP_ROUTE_TTL_MAX_S, type HopRoute, type HopRouteMethod, parseHopRoute } from '@svc/protocol'
import { fromWallTime, now } from '../../../core/clock.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { Route } from '../../../core/lease/route.ts'
import type { PolicyRules } from '../../../core/policy/policy-rules.ts'
import type { RoutingTable } from '../../../core/routing/routing-table.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { OverlayLimits } from '../settings.ts'
import type { HopCounts } from './hop-counts.ts'
import { HopError } from './hop-error.ts'
import type { HopRoutes } from './hop-routes.ts'
import { HOP_CLOCK_SKEW_MS, HOP_OWNER_SLOTS, HOP_PEERS_MAX } from './limits.ts'
import { ownerOf } from './route-signature.ts'
import { digestOf } from './tokens.ts'

const MS_PER_S = 1000
const SLOT_KEY_BYTES = 32

interface HopChangesParts {
  /** Origin of this relay. */
  origin: string
  network: OverlayNetwork
  policy: Pick<PolicyRules, 'blocks'>
  /** Hostnames, and the leases that are published there. */
  routes: Pick<RoutingTable<Route>, 'publishedAt' | 'isCovered'>
  hops: HopRoutes
  counts: HopCounts
  limits: Pick<OverlayLimits, 'hopChangesPerPeer' | 'hopChangesPerOwner'>
}

/** A route whose signature is valid. */
export interface CheckedRoute {
  route: HopRoute
  /** Address of the owner: lower case with `0x`. */
  owner: string
}

export class HopChanges {
  readonly #parts: HopChangesParts
  /** Changes of each peer, by its identity. */
  readonly #rates = new Map<string, GcraLimiter>()
  readonly #owners: GcraLimiter
  /** Secret, so that an owner cannot aim at another one's slot. */
  readonly #slotKey = randomBytes(SLOT_KEY_BYTES).toString('hex')

  constructor(parts: HopChangesParts) {
    this.#parts = parts
    this.#owners = new GcraLimiter(HOP_OWNER_SLOTS, parts.limits.hopChangesPerOwner)
  }

  /**
   * Adds or removes the route that a peer sends.
   * @param value parsed JSON
   * @throws HopError, which is counted
   */
  take(method: HopRouteMethod, value: unknown, peer: OverlayPeer): void {
    this.counted(() => {
      this.#charge(peer)
      const { route, owner } = this.check(method, value)
      if (route.relay_url !== this.#parts.origin)
        throw new HopError('wrong_relay', `the route is for ${route.relay_url}`)
      if (route.forward_relay !== peer.origin)
        throw new HopError('wrong_peer', 'only the next relay of a route may deliver it')
      const lease = this.#leaseOf(route, owner)
      this.requireAllowed(lease)
      const key = route.match_token === '' ? route.public_hostname : digestOf(route.match_token)
      if (method === 'DELETE') this.#remove(key, route, lease)
      else this.#add(key, route, { lease, next: { identity: peer.identity, token: route.forward_token } })
    })
  }

  /**
   * Makes the token of a route end here, at the lease of its owner: this relay is the last of the route.
   * @throws HopError
   */
  arrive(method: HopRouteMethod, route: HopRoute, lease: Lease): void {
    const key = digestOf(route.forward_token)
    if (method === 'DELETE') this.#remove(key, route, lease)
    else this.#add(key, route, { lease, next: undefined })
  }

  /**
   * Checks the form, the times and the signature of a route, and charges its owner.
   * @throws HopError
   */
  check(method: HopRouteMethod, value: unknown): CheckedRoute {
    const route = parseHopRoute(value)
    if (route === undefined) throw new HopError('malformed', 'the hop route is malformed')
    const leftMs = Date.parse(route.expires_at) - Date.now()
    if (leftMs <= 0) throw new HopError('expired', 'the hop route has expired')
    if (leftMs > HOP_ROUTE_TTL_MAX_S * MS_PER_S + HOP_CLOCK_SKEW_MS)
      throw new HopError('expired', `a hop route expires within ${HOP_ROUTE_TTL_MAX_S} s`)
    if (Date.parse(route.first_seen_at) > Date.parse(route.expires_at))
      throw new HopError('malformed', 'the hop route expires before it begins')
    const owner = ownerOf(method, route)
    if (owner === undefined) throw new HopError('forged', 'the key of the hop route did not sign it')
    charge(this.#owners, this.#slotOf(owner))
    if (route.public_hostname !== '' && digestOf(route.public_hostname) !== route.hostname_hash)
      throw new HopError('wrong_hostname', 'hostname_hash is not that of public_hostname')
    return { route, owner }
  }

  /** @throws HopError for a lease that the operator banned or denied */
  requireAllowed(lease: Lease): void {
    if (this.#parts.policy.blocks(lease)) throw new HopError('rejected', 'the policy blocks this lease')
  }

  /** Counts a refusal of `change`, and rethrows it. */
  counted<T>(change: () => T): T {
    try {
      return change()
    } catch (error) {
      if (error instanceof HopError) this.#parts.counts.refused(error.reason)
      throw error
    }
  }

  #add(
    key: string,
    { hostname_hash: hostnameHash, public_hostname: hostname, expires_at }: HopRoute,
    { lease, next }: { lease: Lease; next: { identity: string; token: string } | undefined },
  ): void {
    const { hops, routes } = this.#parts
    const signedUntil = Date.parse(expires_at)
    const known = hops.find(key)
    if (known !== undefined && known.lease.identity.address !== lease.identity.address)
      throw new HopError('wrong_hostname', 'the token or the hostname is on a route of another owner')
    if (next !== undefined && hostname === key && known === undefined && routes.isCovered(key))
      throw new HopError('wrong_hostname', 'the relay serves stored files at this hostname')
    const expiresAt = Math.min(fromWallTime(signedUntil), now() + HOP_ROUTE_TTL_MAX_S * MS_PER_S)
    hops.add({ key, lease, hostnameHash, next, signedUntil, expiresAt })
  }

  #remove(key: string, { expires_at }: HopRoute, lease: Lease): void {
    const { hops } = this.#parts
    const known = hops.find(key)
    if (known !== undefined && known.lease.identity.address !== lease.identity.address)
      throw new HopError('wrong_hostname', 'the token or the hostname is on a route of another owner')
    hops.remove(key, Date.parse(expires_at))
  }

  /** The lease of the owner that the route names. @throws HopError */
  #leaseOf(route: HopRoute, owner: string): Lease {
    const published = this.#parts.routes.publishedAt(route.route_hostname)
    const lease = published?.to === 'lease' ? published.lease : undefined
    if (lease?.canonicalHostname !== route.route_hostname || lease.identity.address !== owner)
      throw new HopError('no_lease', 'route_hostname is not the canonical hostname of a lease of this owner')
    if (route.public_hostname === '') return lease
    if (!lease.hostnames.includes(route.public_hostname))
      throw new HopError('wrong_hostname', 'public_hostname is not a hostname of that lease')
    if (lease.preferences.cache)
      throw new HopError('wrong_hostname', 'a lease that lets the relay store files has no hop routes')
    return lease
  }

  #charge({ identity }: OverlayPeer): void {
    const known = this.#rates.get(identity)
    const rate = known ?? new GcraLimiter(1, this.#parts.limits.hopChangesPerPeer)
    if (known === undefined) {
      const [oldest] = this.#rates.keys()
      if (this.#rates.size >= HOP_PEERS_MAX && oldest !== undefined) this.#rates.delete(oldest)
      this.#rates.set(identity, rate)
    }
    charge(rate)
  }

  #slotOf(owner: string): number {
    return hash('sha256', this.#slotKey + owner, 'buffer').readUInt32BE() % HOP_OWNER_SLOTS
  }
}

/** @throws HopError `rate_limited` */
export function charge(rate: GcraLimiter, slot = 0): void {
  const at = performance.now()
  const waitMs = rate.waitMs(slot, 1, at)
  if (waitMs > 0)
    throw new HopError('rate_limited', 'too many hop routes', {
      'Retry-After': `${Math.ceil(waitMs / 1000)}`,
    })
  rate.spend(slot, 1, at)
}
