// Remembers sites whose snapshot has just gone, while visitors may still receive responses that had begun: a ban ends those too.

import type { Judged } from '../../core/policy/policy-rules.ts'

/**
 * The time, in milliseconds, for which responses that have begun may go on when a snapshot is gone: the relay must not end TLS for the
 * site any more. It is enough for the largest file at 1.4 Mbit/s.
 */
export const CACHE_CLOSING_MAX_MS = 60_000
/** Closing sites that the cache remembers, so that a ban also ends their responses. */
export const CACHE_CLOSING_SITES_MAX = 1024

interface ClosingSite {
  hostname: string
  owner: Judged
  forget: NodeJS.Timeout
}

export class ClosingSites {
  readonly #cut: (hostname: string) => void
  /** The longest closing one first. The same hostname may come with other addresses. */
  readonly #sites = new Set<ClosingSite>()

  /** @param cut ends the connections of a hostname */
  constructor(cut: (hostname: string) => void) {
    this.#cut = cut
  }

  /** Its visitors' connections are ending. One site too many cuts those of the first. */
  add(hostname: string, { identityKey, clientIp, reportedIp }: Judged): void {
    const forget = setTimeout(() => this.#sites.delete(site), CACHE_CLOSING_MAX_MS).unref()
    const site: ClosingSite = { hostname, owner: { identityKey, clientIp, reportedIp }, forget }
    this.#sites.add(site)
    const [first] = this.#sites
    if (this.#sites.size > CACHE_CLOSING_SITES_MAX && first !== undefined) this.#end(first)
  }

  /** Cuts the connections of those that the policy does not route. */
  judge(routes: (owner: Judged) => boolean): void {
    for (const site of [...this.#sites]) if (!routes(site.owner)) this.#end(site)
  }

  close(): void {
    for (const { forget } of this.#sites) clearTimeout(forget)
    this.#sites.clear()
  }

  #end(site: ClosingSite): void {
    clearTimeout(site.forget)
    this.#sites.delete(site)
    this.#cut(site.hostname)
  }
}
