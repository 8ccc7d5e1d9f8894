// Records the exchanges of a handler as the entries of an HTTP Archive (HAR 1.2), each when it has ended.

import type { DirectlyHandled } from '../exchange/direct.ts'
import type { Entry } from '../inspector/entry.ts'
import { toHar } from '../inspector/har.ts'
import { Inspector } from '../inspector/inspector.ts'

/** The most bytes of each content that are recorded. */
const RECORDED_BODY_BYTES: number = 10 * 1024 * 1024
/** The most bytes of memory for exchanges that have not ended, and a few that have. */
const KEPT_BYTES: number = 128 * 1024 * 1024
/** The most exchanges in memory: as many as run at once. */
const KEPT = 2_000

/** A HarRecorder records the exchanges of a handler. Secrets in fields and queries are masked. */
export class HarRecorder {
  readonly #inspector = new Inspector({
    limit: KEPT,
    maxBodyBytes: RECORDED_BODY_BYTES,
    maxBytes: KEPT_BYTES,
  })
  readonly #written = new WeakSet<Entry>()
  readonly #write: (entry: string) => Promise<void>
  #revision = 0
  #writing: Promise<void> = Promise.resolve()

  /** @param write gets each entry as JSON, one after the other */
  constructor(write: (entry: string) => Promise<void>) {
    this.#write = write
    this.#inspector.addEventListener('change', () => this.#follow())
  }

  wrap(handler: DirectlyHandled): DirectlyHandled {
    return this.#inspector.wrap(handler)
  }

  /** Resolves when all that has ended was written. */
  flushed(): Promise<void> {
    this.#follow()
    return this.#writing
  }

  #follow(): void {
    const { changed = [] } = this.#inspector.since(this.#revision) ?? {
      changed: [...this.#inspector.entries].reverse(),
    }
    this.#revision = this.#inspector.revision
    for (const entry of changed) {
      if (entry.times.end === undefined || this.#written.has(entry)) continue
      this.#written.add(entry)
      this.#writing = this.#writing.then(async () => {
        const { log } = await toHar([entry], false)
        await this.#write(JSON.stringify(log.entries[0]))
      })
    }
  }
}
