// Computes the delay before a dead worker is started again. It doubles, so that a worker that always dies costs little.

import { Backoff } from '@svc/protocol/timers'
import { WORKER_BACKOFF_MAX_MS, WORKER_BACKOFF_MS } from '../limits.ts'

export class RestartBackoff {
  readonly #backoff = new Backoff(WORKER_BACKOFF_MS, WORKER_BACKOFF_MAX_MS)

  /** @returns the delay in milliseconds. @param livedMs lifetime of the worker that died */
  after(livedMs: number): number {
    if (livedMs > WORKER_BACKOFF_MAX_MS) this.#backoff.reset()
    return this.#backoff.next()
  }
}
