// One search: it asks some relays for others, and measures the round trips of those that answer.

import { asSvcError, type SvcError } from '../errors.ts'
import { probeRelay } from './health.ts'
import { DISCOVERED_PROBES_MAX, PROBE_PATIENCE_MS, PROBES_PARALLEL_MAX } from './limits.ts'
import { type Candidate, candidateOf } from './ranking.ts'
import { askForRelays, type ListedRelay, type ListRequest } from './relay-list.ts'
import { shuffled } from './shuffled.ts'

/** A SearchRequest says which relays to ask, and for what. */
export interface SearchRequest extends ListRequest {
  asked: readonly URL[]
  /** Returns whether a relay need not be probed. */
  isExcluded(origin: string): boolean
  /** Called with the relays found so far, when some take long. */
  early?(found: readonly Candidate[]): void
}

/** A SearchResult is the outcome of a search. */
export interface SearchResult {
  /** The relays that answered, each once, the best first. */
  found: Candidate[]
  /** The relays that were asked and named no others, with the error of each. */
  failures: { relay: string; error: SvcError }[]
}

/** Asks relays for others, and measures the round trips of those that answer. Never rejects. */
export async function searchRelays(request: SearchRequest): Promise<SearchResult> {
  const { asked, isExcluded } = request
  const failures: SearchResult['failures'] = []
  const lists = await Promise.all(
    asked.map((relay) =>
      askForRelays(relay, request).catch((cause) => {
        const error = asSvcError(cause, 'relay_unreachable', 'the relay was not asked')
        failures.push({ relay: relay.origin, error })
        return []
      }),
    ),
  )
  const seen = new Set<string>()
  const isNew = ({ url: { origin } }: ListedRelay): boolean =>
    !isExcluded(origin) && !seen.has(origin) && seen.add(origin) !== undefined
  const listed = shuffled(lists.flat().filter(isNew)).slice(0, DISCOVERED_PROBES_MAX)
  return { found: await measure(listed, request), failures }
}

/** Probes several at once, so that those that do not answer delay the others less. */
async function measure(
  listed: readonly ListedRelay[],
  { fetch, signal, early }: SearchRequest,
): Promise<Candidate[]> {
  const found: Candidate[] = []
  const sorted = (): Candidate[] => found.toSorted((a, b) => a.costMs - b.costMs)
  const timer = setTimeout(() => found.length > 0 && early?.(sorted()), PROBE_PATIENCE_MS)
  const rest = listed[Symbol.iterator]()
  const probeRest = async (): Promise<void> => {
    for (const relay of rest) {
      if (signal?.aborted) return
      const health = await probeRelay(relay.url, fetch, signal).catch(() => undefined)
      // A relay that was found gets no invitation of the site, and so would refuse it.
      if (health && !health.needsInvitation) found.push(candidateOf(relay, health.rttMs))
    }
  }
  await Promise.all(Array.from({ length: PROBES_PARALLEL_MAX }, probeRest))
  clearTimeout(timer)
  return sorted()
}
