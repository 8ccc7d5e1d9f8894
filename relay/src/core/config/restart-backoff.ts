// Computes the delay before a dead worker is started again. It doubles, so that a worker that keeps dying costs little.

import { Backoff } from '@svc/protocol/timers'

/** Delay before a worker process that died is started again. It doubles each time. */
const WORKER_BACKOFF_MS = 200
/** Longest such delay. A worker process that lived at least as long starts again with the shortest one. */
const WORKER_BACKOFF_MAX_MS = 30_000

export class RestartBackoff {
  readonly #backoff = new Backoff(WORKER_BACKOFF_MS, WORKER_BACKOFF_MAX_MS)

  /** @returns the delay in milliseconds. @param livedMs lifetime of the worker that died */
  after(livedMs: number): number {
    if (livedMs > WORKER_BACKOFF_MAX_MS) this.#backoff.reset()
    return this.#backoff.next()
  }
}
