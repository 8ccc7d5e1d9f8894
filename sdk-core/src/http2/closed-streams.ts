// The streams that were over last, and by whose doing: what still comes on them is late, or wrong (RFC 9113 §5.1).

import { CLOSED_STREAMS_KNOWN } from './limits.ts'

export class ClosedStreams {
  /** Oldest first → whether we ended it before the visitor did, who may not have known yet. */
  readonly #streams = new Map<number, boolean>()

  add(streamId: number, byUs: boolean): void {
    this.#streams.set(streamId, byUs)
    if (this.#streams.size <= CLOSED_STREAMS_KNOWN) return
    for (const oldest of this.#streams.keys()) {
      this.#streams.delete(oldest)
      return
    }
  }

  has(streamId: number): boolean {
    return this.#streams.has(streamId)
  }

  /** Whether frames on it may just be late. */
  isLate(streamId: number): boolean {
    return this.#streams.get(streamId) === true
  }
}
