// What a site still does with its files, so that it can be over before the site is.

import { settledWithin } from '@svc/protocol/timers'
import type { DomainStore, SiteKeyStore } from '@svc/sdk-core'
import type { NodeSiteKey } from './site-keys.ts'

/** A site that ends waits for its files for this many milliseconds at most: a network drive may never answer. */
export const FILE_WORK_MAX_MS = 5_000

/** FileWork is all work with the files of one site. A process that ended amid it would leave locks and temporary files. */
export class FileWork {
  readonly #running = new Set<Promise<unknown>>()

  ofKeys({ load }: SiteKeyStore<NodeSiteKey>): SiteKeyStore<NodeSiteKey> {
    return {
      load: async (site) => {
        const entry = await this.#run(load(site))
        return { ...entry, save: (...given) => this.#run(entry.save(...given)) }
      },
    }
  }

  ofDomains({ load, lock }: DomainStore): DomainStore {
    return {
      load: async (id) => {
        const entry = await this.#run(load(id))
        return { ...entry, save: (text) => this.#run(entry.save(text)) }
      },
      lock: (...given) => this.#run(lock(...given)),
    }
  }

  /** Resolves when no work is left, also what began meanwhile, or it takes too long. */
  async done(): Promise<void> {
    await settledWithin(this.#settled(), FILE_WORK_MAX_MS)
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  #run<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    const remove = (): void => void this.#running.delete(work)
    work.then(remove, remove)
    return work
  }
}
