// Counts the queries to the DNS server. Plain integers cost an answer nothing, and leave the thread as they are.

/** What became of a query; each is counted once. */
export const RESULTS = [
  /** An answer with records, or the word that there are none (NODATA). */
  'answered',
  'nxdomain',
  /** The answer did not fit into a datagram: TC, so that the client asks over TCP. */
  'truncated',
  /** Another zone, another class, or a transfer. */
  'refused',
  'malformed',
  'not_implemented',
  'bad_version',
  /** The network exceeds its rate: the answer was TC or BADCOOKIE, or none. */
  'rate_limited',
  /** No query, or an answer that the kernel did not take. */
  'dropped',
  /** The zone failed. */
  'failed',
] as const

export type Result = (typeof RESULTS)[number]

/** What the server has done since it started. */
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
