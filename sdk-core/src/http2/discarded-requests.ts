// The requests that continue after their responses: they may finish within a time limit (RFC 9113 §8.1).

import { Deadline } from '../timers/deadline.ts'
import { DISCARDED_REQUEST_MAX_MS, DISCARDED_REQUEST_MS, STREAMS_MAX } from './limits.ts'
import type { Stream } from './stream.ts'

export class DiscardedRequests {
  /** Maps the number of a stream, the oldest first, to the stream and times of `performance.now()`. */
  readonly #requests = new Map<number, { stream: Stream; until: number; last: number }>()
  readonly #deadline = new Deadline(() => this.#late())
  readonly #reset: (streamId: number) => void

  /** @param reset called when a request has not ended in time; it must call `delete` */
  constructor(reset: (streamId: number) => void) {
    this.#reset = reset
  }

  get size(): number {
    return this.#requests.size
  }

  /** Adds a stream, and resets the oldest one when there are too many. */
  add(stream: Stream): void {
    const now = performance.now()
    const times = { until: now + DISCARDED_REQUEST_MS, last: now + DISCARDED_REQUEST_MAX_MS }
    this.#requests.set(stream.id, { stream, ...times })
    this.#watch()
    // The limit is that of open streams.
    if (this.size <= STREAMS_MAX) return
    for (const oldest of this.#requests.keys()) {
      this.#reset(oldest)
      return
    }
  }

  get(streamId: number): Stream | undefined {
    return this.#requests.get(streamId)?.stream
  }

  /** Notes that more of the request arrived. */
  progressed(streamId: number): void {
    const request = this.#requests.get(streamId)
    if (request) request.until = Math.min(performance.now() + DISCARDED_REQUEST_MS, request.last)
  }

  /** @returns whether the stream was there */
  delete(streamId: number): boolean {
    const wasThere = this.#requests.delete(streamId)
    this.#watch()
    return wasThere
  }

  /** Forgets all streams, for a connection that is over. */
  close(): void {
    this.#requests.clear()
    this.#deadline.close()
  }

  #watch(): void {
    if (this.size === 0) this.#deadline.clear()
    else this.#deadline.set(Math.min(...[...this.#requests.values()].map(({ until }) => until)))
  }

  #late(): void {
    const now = performance.now()
    for (const [streamId, { until }] of this.#requests) if (until <= now) this.#reset(streamId)
    this.#watch()
  }
}
