// Remembers when this relay checked an origin, so that it does so once in an interval, however many name it.

import { LOOKED_AT_MAX } from './limits.ts'

export class RecentLookups {
  /** Milliseconds between two checks of one origin. */
  readonly #pauseMs: number
  /** Time of the last check by origin, by the monotonic clock; the oldest first. */
  readonly #times = new Map<string, number>()

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs
  }

  isRecent(origin: string): boolean {
    const time = this.#times.get(origin)
    return time !== undefined && performance.now() - time < this.#pauseMs
  }

  /** Records that the origin is being asked now. */
  add(origin: string): void {
    this.#times.delete(origin)
    this.#times.set(origin, performance.now())
    if (this.#times.size > LOOKED_AT_MAX) this.#times.delete(this.#times.keys().next().value!)
  }
}
