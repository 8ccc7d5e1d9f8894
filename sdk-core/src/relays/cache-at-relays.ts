// The static caches of a site at several relays, shown as one.

import type { SiteCache } from '../cache/cache-options.ts'
import type { Site } from '../site/site.ts'

export class CacheAtRelays implements SiteCache {
  #sites: () => readonly Site[]

  constructor(sites: () => readonly Site[]) {
    this.#sites = sites
  }

  /** True when one relay stores the files. */
  get present(): boolean {
    return this.#stored !== undefined
  }

  /** The time of the first relay that stores the files. */
  get expires_at(): string | undefined {
    return this.#stored?.expires_at
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#all.map((cache) => cache.refresh()))
  }

  /** Asks every relay, even if one refuses. */
  async remove(): Promise<void> {
    const results = await Promise.allSettled(this.#all.map((cache) => cache.remove()))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  get #all(): SiteCache[] {
    return this.#sites().flatMap(({ cache }) => cache ?? [])
  }

  get #stored(): SiteCache | undefined {
    return this.#all.find(({ present }) => present)
  }
}
