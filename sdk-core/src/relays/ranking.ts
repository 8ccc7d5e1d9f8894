// Ranks the relays that answered: distance and load decide, and a relay in a network that no relay in use has comes first.

import { LOAD_BYTES_PER_MS, LOAD_CONNECTIONS_PER_MS, LOAD_COST_MAX_MS } from './limits.ts'
import { networkOf } from './relay-address.ts'
import type { ListedRelay } from './relay-list.ts'

/** A Candidate is a relay that answered, with what it costs to use it. */
export interface Candidate {
  url: URL
  /** The round trip in milliseconds, and milliseconds for the load. The lowest is the best. */
  costMs: number
}

/** The load is what the relay says of itself: one that lies gets more sites, and the round trip shows the rest. */
export function candidateOf({ url, descriptor }: ListedRelay, rttMs: number): Candidate {
  const { active_connections: connections, tcp_bps: bytesPerSecond } = descriptor
  const loadMs = cost(connections / LOAD_CONNECTIONS_PER_MS) + cost(bytesPerSecond / LOAD_BYTES_PER_MS)
  return { url, costMs: rttMs + loadMs }
}

function cost(ms: number): number {
  return Math.min(Math.max(ms, 0), LOAD_COST_MAX_MS)
}

/**
 * Returns the candidate to take next: the best of those whose network is not that of a relay in use, or the best of all.
 * @param used the relays in use
 */
export function bestOf(candidates: readonly Candidate[], used: readonly URL[]): Candidate | undefined {
  const networks = new Set(used.map(networkOf))
  const isShared = ({ url }: Candidate): number => Number(networks.has(networkOf(url)))
  const order = (a: Candidate, b: Candidate): number => isShared(a) - isShared(b) || a.costMs - b.costMs
  return candidates.toSorted(order)[0]
}
