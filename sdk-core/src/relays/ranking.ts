// Ranks the relays that answered: by round trip and load, and with preference for networks that are not in use yet.

import { LOAD_BYTES_PER_MS, LOAD_CONNECTIONS_PER_MS, LOAD_COST_MAX_MS } from './limits.ts'
import { networkOf } from './relay-address.ts'
import type { ListedRelay } from './relay-list.ts'

/** A Candidate is a relay that answered, with its cost. */
export interface Candidate {
  url: URL
  /** The round trip in milliseconds plus the cost of the load. The lowest is best. */
  costMs: number
}

/** The load is the relay's own report: a relay that lies gets more sites, and its round trip will show it. */
export function candidateOf({ url, descriptor }: ListedRelay, rttMs: number): Candidate {
  const { active_connections: connections, tcp_bps: bytesPerSecond } = descriptor
  const loadMs = cost(connections / LOAD_CONNECTIONS_PER_MS) + cost(bytesPerSecond / LOAD_BYTES_PER_MS)
  return { url, costMs: rttMs + loadMs }
}

function cost(ms: number): number {
  return Math.min(Math.max(ms, 0), LOAD_COST_MAX_MS)
}

/**
 * Returns the next candidate: the best one in a network without a relay in use, otherwise the best of all.
 * @param used the relays in use
 */
export function bestOf(candidates: readonly Candidate[], used: readonly URL[]): Candidate | undefined {
  const networks = new Set(used.map(networkOf))
  const isShared = ({ url }: Candidate): number => Number(networks.has(networkOf(url)))
  const order = (a: Candidate, b: Candidate): number => isShared(a) - isShared(b) || a.costMs - b.costMs
  return candidates.toSorted(order)[0]
}
