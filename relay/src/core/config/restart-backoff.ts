// Computes the delay before a dead worker is started again. It doubles, so that a worker that always dies costs little.

import { WORKER_BACKOFF_MAX_MS, WORKER_BACKOFF_MS } from '../limits.ts'

export class RestartBackoff {
  #nextMs = WORKER_BACKOFF_MS

  /** @returns the delay in milliseconds. @param livedMs lifetime of the worker that died */
  after(livedMs: number): number {
    const delayMs = livedMs > WORKER_BACKOFF_MAX_MS ? WORKER_BACKOFF_MS : this.#nextMs
    this.#nextMs = Math.min(2 * delayMs, WORKER_BACKOFF_MAX_MS)
    return delayMs
  }
}
