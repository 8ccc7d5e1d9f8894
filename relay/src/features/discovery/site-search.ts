// Finds a relay that has a site now: a search asks a bounded number of the known relays, and the next search continues
// after them.

import { isIP } from 'node:net'
import { now } from '../../core/clock.ts'
import { RelayError } from '../../core/errors.ts'
import {
  DISCOVERY_LIMITS,
  SITE_QUESTIONS_MAX,
  SITE_QUESTIONS_PARALLEL_MAX,
  SITE_SEARCHES_PARALLEL_MAX,
  SITES_REMEMBERED_MAX,
  UNKNOWN_SITE_SEARCHES_PARALLEL_MAX,
} from './limits.ts'

/** The result of one search. */
export interface SiteSearchResult {
  /** Origin of a relay that has the site; undefined when none of those that were asked has it. */
  origin: string | undefined
  /** Number of relays selected for the search. */
  asked: number
  /** Number of relays that may have sites. */
  known: number
}

export interface SiteSearchParts {
  /** Origins of the relays that answer, in a stable order. */
  origins: () => Iterable<string>
  /** Asks one relay. @param signal ends the question */
  hasSite: (origin: string, canonicalLabel: string, signal: AbortSignal) => Promise<boolean>
  /** @default `DISCOVERY_LIMITS.siteResultMs` */
  resultMs?: number
}

interface RememberedSite {
  /** Result of the running search, or of the last one. */
  result: Promise<SiteSearchResult>
  /** Relay time until which the result is reused. */
  holdsUntil: number
  /** Index of the first relay that the next search asks. */
  next: number
}

/** Retry-After of a visitor who comes while too many searches run. */
const BUSY_RETRY_S = 2

export class SiteSearch {
  readonly #parts: SiteSearchParts
  /** By canonical label; the most recently searched is last. */
  readonly #sites = new Map<string, RememberedSite>()
  /**
   * The relay that last had each site, by canonical label; the most recently found is last. It contains no invented
   * sites.
   */
  readonly #homes = new Map<string, string>()
  #running = 0

  constructor(parts: SiteSearchParts) {
    this.#parts = parts
  }

  /**
   * Resolves with the result of a running search, a recent one, or a new one.
   * @param onBegin is called before a new one begins, and may throw to prevent it
   * @throws RelayError `rate_limited` while too many searches run
   */
  find(
    canonicalLabel: string,
    onBegin: (wasFoundBefore: boolean) => void = () => {},
  ): Promise<SiteSearchResult> {
    const recent = this.#sites.get(canonicalLabel)
    if (recent !== undefined && now() < recent.holdsUntil) return recent.result
    const lastOrigin = this.#homes.get(canonicalLabel)
    const max = lastOrigin === undefined ? UNKNOWN_SITE_SEARCHES_PARALLEL_MAX : SITE_SEARCHES_PARALLEL_MAX
    if (this.#running >= max)
      throw new RelayError('rate_limited', 'too many searches run', { 'Retry-After': `${BUSY_RETRY_S}` })
    onBegin(lastOrigin !== undefined)
    const origins = [...this.#parts.origins()].filter(hasNamesBelow)
    const { next = Math.floor(Math.random() * origins.length) } = recent ?? {}
    const asked = inTurn(origins, next, lastOrigin).slice(0, SITE_QUESTIONS_MAX)
    const site: RememberedSite = {
      result: this.#search(canonicalLabel, asked).then((origin) => {
        site.holdsUntil = now() + (this.#parts.resultMs ?? DISCOVERY_LIMITS.siteResultMs)
        if (origin !== undefined) remember(this.#homes, canonicalLabel, origin)
        return { origin, asked: asked.length, known: origins.length }
      }),
      holdsUntil: Number.POSITIVE_INFINITY,
      // The relay that last had the site does not count as one of those in turn.
      next: next + asked.length - (asked[0] === lastOrigin ? 1 : 0),
    }
    remember(this.#sites, canonicalLabel, site)
    return site.result
  }

  /** @returns the first relay that proves that it has the site */
  async #search(canonicalLabel: string, origins: readonly string[]): Promise<string | undefined> {
    this.#running += 1
    const found = new AbortController()
    let first: string | undefined
    const left = origins.values()
    const askSome = async (): Promise<void> => {
      for (const origin of left) {
        if (found.signal.aborted) return
        const isThere = await this.#parts.hasSite(origin, canonicalLabel, found.signal).catch(() => false)
        if (!isThere) continue
        first ??= origin
        found.abort()
      }
    }
    await Promise.all(Array.from({ length: SITE_QUESTIONS_PARALLEL_MAX }, askSome))
    this.#running -= 1
    return first
  }
}

/** Puts a value at the end of a map, and drops the first one when there are too many. */
function remember<T>(values: Map<string, T>, canonicalLabel: string, value: T): void {
  values.delete(canonicalLabel)
  values.set(canonicalLabel, value)
  const [oldest] = values.keys()
  if (values.size > SITES_REMEMBERED_MAX && oldest !== undefined) values.delete(oldest)
}

/** A relay at an IP address has no hostnames for sites. */
function hasNamesBelow(origin: string): boolean {
  return isIP(new URL(origin).hostname.replace(/^\[|\]$/g, '')) === 0
}

/** Every origin once: `first`, where the site last was, then those from `start` on, then those from the beginning. */
function inTurn(origins: readonly string[], start: number, first: string | undefined): string[] {
  const from = origins.length === 0 ? 0 : start % origins.length
  const turn = [...origins.slice(from), ...origins.slice(0, from)]
  return first === undefined || !origins.includes(first)
    ? turn
    : [first, ...turn.filter((origin) => origin !== first)]
}
