// The octets that one stream has to send, split into DATA frames as the windows allow (RFC 9113 §6.1, §6.9).

import { WRITE_STALL_MS } from '../semantics/limits.ts'
import { Deadline } from '../timers/deadline.ts'
import { DATA, END_STREAM, HEADER_BYTES, writeHeader } from './frame.ts'

export class DataQueue {
  /** The octets that the visitor accepts on this stream (RFC 9113 §6.9). A changed setting can make it negative. */
  window: number
  /** True while the queue is in the frame writer's round. */
  isQueued = false
  readonly #streamId: number
  readonly #deadline: Deadline
  #pieces: readonly Uint8Array[] = []
  #piece = 0
  #at = 0
  #pending = 0
  /** True when END_STREAM goes with the last pending octet. */
  #ends = false
  #taken: PromiseWithResolvers<void> | undefined
  #over: { error: unknown } | undefined

  /** @param stalled called when the visitor accepts nothing for too long; it must call `fail` */
  constructor(streamId: number, window: number, stalled: () => void) {
    this.#streamId = streamId
    this.window = window
    this.#deadline = new Deadline(stalled)
  }

  /** The number of octets that this stream could send now. */
  get available(): number {
    return Math.max(0, Math.min(this.#pending, this.window))
  }

  /** True when a frame can be sent: with octets, or to end the stream. */
  get isReady(): boolean {
    return this.#pending > 0 ? this.window > 0 : this.#ends
  }

  /** Queues the pieces. Resolves when all of them were sent. Only one write may be pending. */
  write(pieces: readonly Uint8Array[], size: number, isEnd: boolean): Promise<void> {
    if (this.#over) return Promise.reject(this.#over.error)
    if (size === 0 && !isEnd) return Promise.resolve()
    this.#pieces = pieces
    this.#piece = 0
    this.#at = 0
    this.#pending = size
    this.#ends = isEnd
    this.#taken = Promise.withResolvers()
    this.#deadline.set(performance.now() + WRITE_STALL_MS)
    return this.#taken.promise
  }

  /**
   * Writes one frame of at most `max` octets.
   * @returns the number of its octets
   */
  fill(into: Uint8Array, at: number, max: number): number {
    const length = Math.min(this.available, max)
    this.#pending -= length
    this.window -= length
    const isLast = this.#ends && this.#pending === 0
    writeHeader(into, at, length, DATA, isLast ? END_STREAM : 0, this.#streamId)
    this.#copy(into, at + HEADER_BYTES, length)
    if (this.#pending === 0) this.#settle()
    else this.#deadline.set(performance.now() + WRITE_STALL_MS)
    return length
  }

  /** Stops sending: the pending write and all later ones reject with `error`. */
  fail(error: unknown): void {
    this.#over ??= { error }
    const taken = this.#taken
    this.#pending = 0
    this.#settle()
    this.#deadline.close()
    taken?.reject(error)
  }

  #copy(into: Uint8Array, at: number, length: number): void {
    for (let left = length; left > 0; ) {
      const piece = this.#pieces[this.#piece]!
      const part = piece.subarray(this.#at, this.#at + left)
      into.set(part, at + length - left)
      left -= part.length
      this.#at += part.length
      if (this.#at < piece.length) continue
      this.#piece++
      this.#at = 0
    }
  }

  #settle(): void {
    this.#ends = false
    this.#pieces = []
    this.#deadline.clear()
    if (!this.#over) this.#taken?.resolve()
    this.#taken = undefined
  }
}
