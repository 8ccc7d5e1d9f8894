// How long to wait before a worker that died is started again: longer each time, so that one that cannot live costs little.

import { WORKER_BACKOFF_MAX_MS, WORKER_BACKOFF_MS } from '../limits.ts'

export class RestartBackoff {
  #nextMs = WORKER_BACKOFF_MS

  /** @param livedMs how long the one that died was there */
  after(livedMs: number): number {
    const pauseMs = livedMs > WORKER_BACKOFF_MAX_MS ? WORKER_BACKOFF_MS : this.#nextMs
    this.#nextMs = Math.min(2 * pauseMs, WORKER_BACKOFF_MAX_MS)
    return pauseMs
  }
}
