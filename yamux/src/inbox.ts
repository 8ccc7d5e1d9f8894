// What a stream received and nobody read yet. Its window bounds the bytes; this bounds what a byte costs.

import { YamuxError } from './errors.ts'
import { VIEW_MIN_BYTES, VIEW_MIN_SHARE } from './limits.ts'
import { type Waiter, waiter } from './waiter.ts'

export class Inbox {
  readonly #onRead: (bytes: number) => void
  readonly #chunks: Uint8Array[] = []
  /** The last chunk while it has room: small payloads are collected in it. */
  #tail: Uint8Array | undefined
  #tailBytes = 0
  #reader: Waiter<Uint8Array | undefined> | undefined
  #ended = false
  #error: YamuxError | undefined

  /** @param onRead called when bytes leave, and once more when the end was reached */
  constructor(onRead: (bytes: number) => void) {
    this.#onRead = onRead
  }

  /** Everything came, and everything was read. */
  get drained(): boolean {
    return this.#ended && this.#chunks.length === 0 && this.#tail === undefined
  }

  push(bytes: Uint8Array): void {
    const reader = this.#reader
    if (reader !== undefined) {
      this.#reader = undefined
      this.#onRead(bytes.length)
      reader.resolve(isLargePart(bytes) ? bytes : new Uint8Array(bytes))
    } else if (bytes.length >= VIEW_MIN_BYTES && isLargePart(bytes)) {
      this.#seal()
      this.#chunks.push(bytes)
    } else {
      this.#collect(bytes)
    }
  }

  end(): void {
    this.#ended = true
    this.#reader?.resolve(undefined)
    this.#reader = undefined
  }

  /** Whoever reads gets the error, and what was buffered is gone; unless all of it had come already. */
  fail(error: YamuxError, keepComplete: boolean): void {
    if (keepComplete && this.#ended) return
    this.#error = error
    this.#chunks.length = 0
    this.#tail = undefined
    this.#reader?.reject(error)
    this.#reader = undefined
  }

  read(signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#reader !== undefined)
      return Promise.reject(new YamuxError('read_pending', 'another read of this stream is still waiting'))
    const chunk = this.#shift()
    if (chunk !== undefined) {
      this.#onRead(chunk.length)
      return Promise.resolve(chunk)
    }
    if (this.#ended) return Promise.resolve(undefined)
    this.#reader = waiter(signal, () => {
      this.#reader = undefined
    })
    return this.#reader.promise
  }

  #shift(): Uint8Array | undefined {
    if (this.#chunks.length === 0) this.#seal()
    return this.#chunks.shift()
  }

  #collect(bytes: Uint8Array): void {
    if (this.#tail !== undefined && this.#tail.length - this.#tailBytes < bytes.length) this.#seal()
    // The first small payload is often the only one; a second shows that the reader is behind.
    this.#tail ??= new Uint8Array(
      this.#chunks.length === 0 ? bytes.length : Math.max(bytes.length, VIEW_MIN_BYTES),
    )
    this.#tail.set(bytes, this.#tailBytes)
    this.#tailBytes += bytes.length
    if (this.#tailBytes === this.#tail.length) this.#seal()
  }

  #seal(): void {
    if (this.#tail === undefined) return
    this.#chunks.push(this.#tail.subarray(0, this.#tailBytes))
    this.#tail = undefined
    this.#tailBytes = 0
  }
}

/** A view keeps its whole buffer alive: one byte of a megabyte must not. */
function isLargePart(bytes: Uint8Array): boolean {
  return bytes.length >= bytes.buffer.byteLength * VIEW_MIN_SHARE
}
