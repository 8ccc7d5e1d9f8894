// Remembers recently closed streams, and who closed them: a frame on one is late or an error (RFC 9113 §5.1).

import { CLOSED_STREAMS_KNOWN } from './limits.ts'

export class ClosedStreams {
  /** Maps streams, oldest first, to whether the SDK closed them, which the visitor may not have known yet. */
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

  /** Returns whether frames on the stream may merely be late. */
  isLate(streamId: number): boolean {
    return this.#streams.get(streamId) === true
  }
}
