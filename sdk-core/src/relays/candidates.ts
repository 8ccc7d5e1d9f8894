// The relays that may be used next: those that answered the last search, which is repeated at intervals.

import { backoffMs } from '@svc/protocol/timers'
import type { FetchFunction } from '../control/relay-client.ts'
import { LISTS_FIRST_MAX, LISTS_MAX, SEARCH_INTERVAL_MS, SEARCH_RETRY_FIRST_MS } from './limits.ts'
import { bestOf, type Candidate } from './ranking.ts'
import type { SignerOf, Wanted } from './relay-list.ts'
import { type SearchResult, searchRelays } from './search.ts'

interface CandidatesParts {
  wanted: Wanted
  fetch: FetchFunction
  signerOf: SignerOf
  /** Ends a running search. */
  signal: AbortSignal
  /** Returns the relays that may be asked for others, the best first. */
  asked(): readonly URL[]
  /** Returns whether a relay cannot be used, because the site is already there or the caller named it. */
  isExcluded(origin: string): boolean
  /** Returns the time of `performance.now()` before which a failed relay is not used again. */
  until(origin: string): number
  /** Called when a search found relays or ended. */
  found(): void
  failed(failure: SearchResult['failures'][number]): void
}

export class Candidates {
  /** The relays that named no others at the last search. */
  failures: SearchResult['failures'] = []
  #parts: CandidatesParts
  #pool: readonly Candidate[] = []
  #isSearching = false
  #searches = 0
  /** The number of searches in a row after which a relay was still missing. */
  #fruitless = 0
  #lastAt = Number.NEGATIVE_INFINITY
  #intervalMs = spread(SEARCH_INTERVAL_MS)
  #isMissing = false

  constructor(parts: CandidatesParts) {
    this.#parts = parts
  }

  /** True until the first search is over. */
  get isFirst(): boolean {
    return this.#searches === 0
  }

  /**
   * Returns the relay to use next. Undefined when there is none now.
   * @param used the relays in use
   */
  next(used: readonly URL[]): URL | undefined {
    const now = performance.now()
    const { isExcluded, until } = this.#parts
    const free = this.#pool.filter(({ url }) => !isExcluded(url.origin) && until(url.origin) <= now)
    return bestOf(free, used)?.url
  }

  /**
   * Starts a search when one is due: sooner while a relay is missing.
   * @param isMissing whether no replacement was found for a missing relay
   * @param isWhole whether the site is online at enough relays
   */
  searchWhenDue(isMissing: boolean, isWhole: boolean): void {
    if (isWhole) this.#fruitless = 0
    this.#isMissing = isMissing
    if (!this.#isSearching && performance.now() >= this.#dueAt) this.#search()
  }

  /** Makes the next search come soon if a relay is missing, because the network is back. */
  wake(): void {
    this.#fruitless = 0
  }

  /** The time of `performance.now()` at which a search is due, or a failed relay may be used again. */
  get nextAt(): number {
    const pauses = this.#isMissing ? this.#pool.map(({ url }) => this.#parts.until(url.origin)) : []
    const now = performance.now()
    return Math.min(
      this.#isSearching ? Number.POSITIVE_INFINITY : this.#dueAt,
      ...pauses.filter((time) => time > now),
    )
  }

  get #dueAt(): number {
    const retryMs = backoffMs(this.#fruitless, SEARCH_RETRY_FIRST_MS, this.#intervalMs)
    return this.#lastAt + (this.#isMissing ? retryMs : this.#intervalMs)
  }

  async #search(): Promise<void> {
    const { wanted, fetch, signerOf, signal, asked, isExcluded, until, found, failed } = this.#parts
    this.#isSearching = true
    const take = (candidates: readonly Candidate[]): void => {
      // If this search found none, the results of the last one remain.
      if (candidates.length > 0) this.#pool = candidates
    }
    const result = await searchRelays({
      asked: this.#chosen(asked()),
      wanted,
      fetch,
      signerOf,
      signal,
      isExcluded: (origin) => isExcluded(origin) || until(origin) > performance.now(),
      early: (candidates) => {
        take(candidates)
        found()
      },
    })
    this.#isSearching = false
    if (signal.aborted) return
    this.#searches += 1
    this.#fruitless += 1
    this.#lastAt = performance.now()
    this.#intervalMs = spread(SEARCH_INTERVAL_MS)
    take(result.found)
    this.failures = result.failures
    for (const failure of result.failures) failed(failure)
    found()
  }

  /** Chooses several at first, and later a few in turn, so that no single relay decides which others are found. */
  #chosen(relays: readonly URL[]): URL[] {
    if (this.isFirst) return relays.slice(0, LISTS_FIRST_MAX)
    const start = (this.#searches * LISTS_MAX) % Math.max(relays.length, 1)
    return [...relays.slice(start), ...relays.slice(0, start)].slice(0, LISTS_MAX)
  }
}

function spread(ms: number): number {
  return ms * (1 + Math.random() / 2)
}
