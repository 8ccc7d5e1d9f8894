// The limits of routes over several relays.

import { HOP_ROUTES_PER_OWNER_MAX } from '@svc/protocol'
import type { QuotaLimits } from './quota.ts'

/** Hop routes at this relay, and tokens that end here, by owner. */
export const HOP_ROUTES: QuotaLimits = {
  max: 16_384,
  perHolder: HOP_ROUTES_PER_OWNER_MAX,
  perHolderWhenHalfFull: 8,
}
/** Routes that were removed before their end, and may not come back. The relay forgets the oldest first. */
export const HOP_REMOVED_MAX = 16_384
/** Tolerance for differing clocks, in milliseconds, by which a route may exceed {@link HOP_ROUTE_TTL_MAX_S}. */
export const HOP_CLOCK_SKEW_MS = 60_000
/** Counters of the changes by owners, 8 bytes each. Owners share them, so a flood of keys takes no more memory. */
export const HOP_OWNER_SLOTS = 16_384
/** Hop routes that one lease may hand over: each of its hostnames every 20 s, and many reconnections. */
export const HOP_HANDOVERS_PER_LEASE: { perMinute: number; burst: number } = { perMinute: 60, burst: 30 }
/** Peers whose rates the relay remembers: as many as discovery knows. It forgets the oldest first. */
export const HOP_PEERS_MAX = 1024
/**
 * Connections that sites have through this relay to neighbours at once, by lease: a few for requests, and one for a
 * probe.
 */
export const NEIGHBOUR_CONNECTIONS: QuotaLimits = { max: 1024, perHolder: 16, perHolderWhenHalfFull: 4 }
/**
 * Visitors and connections of sites that this relay has at one peer, by lease. The peer may have room for more connections
 * of this relay, which are for requests: hop routes, gateways and discovery.
 */
export const PEER_CONNECTIONS: QuotaLimits = { max: 1024, perHolder: 256, perHolderWhenHalfFull: 16 }
