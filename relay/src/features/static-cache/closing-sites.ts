// Remembers sites whose snapshot was just removed, while visitors may still receive responses in progress: a ban ends
// those, too.

import type { Judged } from '../../core/policy/policy-rules.ts'

/**
 * Time, in milliseconds, that responses in progress may still take once a snapshot is gone, since the relay may no
 * longer end TLS for the site. It is enough for the largest file at 1.4 Mbit/s.
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
  /** The one that has been closing longest is first. A hostname may occur again with other addresses. */
  readonly #sites = new Set<ClosingSite>()

  /** @param cut ends the connections of a hostname */
  constructor(cut: (hostname: string) => void) {
    this.#cut = cut
  }

  /** Adds a site whose connections are ending. Beyond the maximum, cuts those of the first site. */
  add(hostname: string, { identityKey, clientIp, reportedIp }: Judged): void {
    const forget = setTimeout(() => this.#sites.delete(site), CACHE_CLOSING_MAX_MS).unref()
    const site: ClosingSite = { hostname, owner: { identityKey, clientIp, reportedIp }, forget }
    this.#sites.add(site)
    const [first] = this.#sites
    if (this.#sites.size > CACHE_CLOSING_SITES_MAX && first !== undefined) this.#end(first)
  }

  /** Cuts the connections of sites that the policy does not route. */
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
