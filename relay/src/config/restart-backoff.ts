// How long to wait before a worker that died is started again: longer each time, so that one that cannot live costs little.

import { WORKER_PAUSE_MAX_MS, WORKER_PAUSE_MS } from '../limits.ts'

export class RestartPause {
  #nextMs = WORKER_PAUSE_MS

  /** @param livedMs how long the one that died was there */
  after(livedMs: number): number {
    const pauseMs = livedMs > WORKER_PAUSE_MAX_MS ? WORKER_PAUSE_MS : this.#nextMs
    this.#nextMs = Math.min(2 * pauseMs, WORKER_PAUSE_MAX_MS)
    return pauseMs
  }
}
