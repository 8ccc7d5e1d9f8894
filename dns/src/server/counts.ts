// Counts the queries to the DNS server, in plain integers, which are cheap and can be posted to another thread.

/** The outcomes of a query; each query is counted once. */
export const RESULTS = [
  /** An answer with records, or NODATA. */
  'answered',
  'nxdomain',
  /** The answer did not fit into a datagram: TC, so that the client retries over TCP. */
  'truncated',
  /** Another zone, another class, or a transfer. */
  'refused',
  'malformed',
  'not_implemented',
  'bad_version',
  /** The network exceeds its rate: the answer was TC or BADCOOKIE, or none. */
  'rate_limited',
  /** Not a query, or an answer that the kernel did not accept. */
  'dropped',
  /** The zone failed. */
  'failed',
] as const

export type Result = (typeof RESULTS)[number]

/** The server's counters since its start. */
export interface DnsCounts {
  queries: Record<Result, number>
  /** Queries that came over TCP; the others came over UDP. */
  overTcp: number
  /** Open TCP connections. */
  connections: number
}

export function noCounts(): DnsCounts {
  return {
    queries: Object.fromEntries(RESULTS.map((result) => [result, 0])) as Record<Result, number>,
    overTcp: 0,
    connections: 0,
  }
}
