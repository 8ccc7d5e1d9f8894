// Limits the unacknowledged opened streams. Further ones wait, first come, first served.

import { abortableDeferred, type Deferred } from './deferred.ts'

export class AcceptBacklog {
  #free: number
  readonly #waiting = new Set<Deferred<void>>()

  constructor(size: number) {
    this.#free = size
  }

  /**
   * Waits for a slot.
   * @returns a promise that rejects with the signal's reason, or with that of {@link fail}
   */
  async acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free--
      return
    }
    const place: Deferred<void> = abortableDeferred(signal, () => this.#waiting.delete(place))
    this.#waiting.add(place)
    await place.promise
  }

  release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next.resolve()
  }

  fail(error: unknown): void {
    for (const place of this.#waiting) place.reject(error)
    this.#waiting.clear()
  }
}
