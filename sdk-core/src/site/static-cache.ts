// The state of a site's files in the relay's static cache. The uploading code is loaded when the option `cache` is set.

import type { CacheKeeper, CacheKeeperParts } from '../cache/cache-keeper.ts'
import type { CacheStatus, SiteCache } from '../cache/cache-options.ts'
import { SvcError } from '../errors.ts'

export class StaticCache implements SiteCache {
  #parts: CacheKeeperParts
  #keeper: CacheKeeper | undefined
  #status: CacheStatus = { present: false, expires_at: undefined }

  /** @param parts whose `changed` is called when the status changes */
  constructor(parts: CacheKeeperParts) {
    const changed = (status: CacheStatus): void => {
      const { present, expires_at } = this.#status
      if (status.present === present && status.expires_at === expires_at) return
      this.#status = status
      parts.changed(status)
    }
    this.#parts = { ...parts, changed }
  }

  get present(): boolean {
    return this.#status.present
  }

  get expires_at(): string | undefined {
    return this.#status.expires_at
  }

  async refresh(): Promise<void> {
    await this.#load().then((keeper) => keeper.refresh(), this.#parts.onError)
  }

  async remove(): Promise<void> {
    await (await this.#load()).remove()
  }

  /** Looks for changes, because the site is online. */
  check(): void {
    this.#load().then((keeper) => keeper.check(), this.#parts.onError)
  }

  /** Stops the current check. {@link check} starts again. */
  stop(): void {
    this.#keeper?.stop()
  }

  /**
   * Loading code fails in a service worker and without a network: the next call tries again.
   * @throws SvcError `cache_unavailable`
   */
  async #load(): Promise<CacheKeeper> {
    try {
      const late = await import('../cache/cache-keeper.ts')
      this.#keeper ??= new late.CacheKeeper(this.#parts)
      return this.#keeper
    } catch (cause) {
      throw new SvcError('cache_unavailable', 'the code of the static cache cannot be loaded', { cause })
    }
  }
}
