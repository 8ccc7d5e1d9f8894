// Reads frames from bytes in any chunking. It buffers at most eleven bytes: payloads are passed on as they arrive.

import { type FrameHeader, HEADER_BYTES, readHeader, TYPE } from './frame.ts'

interface FrameHandler {
  onHeader(header: FrameHeader): void
  /** Called with the next piece of the last data frame's payload: a view of the chunk, never empty. */
  onPayload(bytes: Uint8Array, last: boolean): void
}

export class FrameParser {
  readonly #handler: FrameHandler
  /** The first part of a header that a chunk boundary splits. */
  readonly #partial = new Uint8Array(HEADER_BYTES)
  #partialBytes = 0
  #payloadLeft = 0
  #stopped = false

  constructor(handler: FrameHandler) {
    this.#handler = handler
  }

  /**
   * Reads a chunk.
   * @throws YamuxError of the handler, or for an invalid header
   */
  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length && !this.#stopped)
      at = this.#payloadLeft > 0 ? this.#payload(chunk, at) : this.#header(chunk, at)
  }

  /** Stops at once, even within the current chunk. */
  stop(): void {
    this.#stopped = true
  }

  #payload(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + this.#payloadLeft)
    this.#payloadLeft -= end - at
    this.#handler.onPayload(chunk.subarray(at, end), this.#payloadLeft === 0)
    return end
  }

  #header(chunk: Uint8Array, at: number): number {
    if (this.#partialBytes === 0 && chunk.length - at >= HEADER_BYTES) {
      this.#emit(readHeader(chunk, at))
      return at + HEADER_BYTES
    }
    const end = Math.min(chunk.length, at + HEADER_BYTES - this.#partialBytes)
    this.#partial.set(chunk.subarray(at, end), this.#partialBytes)
    this.#partialBytes += end - at
    if (this.#partialBytes === HEADER_BYTES) {
      this.#partialBytes = 0
      this.#emit(readHeader(this.#partial, 0))
    }
    return end
  }

  #emit(header: FrameHeader): void {
    if (header.type === TYPE.data) this.#payloadLeft = header.length
    this.#handler.onHeader(header)
  }
}
