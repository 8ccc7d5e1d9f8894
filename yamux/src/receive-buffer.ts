// Holds the received bytes of a stream until they are read. Its window bounds the bytes, and this file their overhead.

import { abortableDeferred, type Deferred } from './deferred.ts'
import { YamuxError } from './errors.ts'
import { VIEW_MIN_BYTES, VIEW_MIN_SHARE } from './limits.ts'

export class ReceiveBuffer {
  readonly #onRead: (bytes: number) => void
  readonly #hold: (bytes: number) => void
  /** The number of waiting bytes of payload. */
  #bytes = 0
  readonly #chunks: Uint8Array[] = []
  /** The last chunk while it has room: small payloads are collected in it. */
  #tail: Uint8Array | undefined
  #tailBytes = 0
  #reader: Deferred<Uint8Array | undefined> | undefined
  /** The most bytes that the pending read takes. */
  #readerMax = 0
  #discards = false
  #ended = false
  #error: YamuxError | undefined

  /**
   * @param onRead called with the bytes that were read, and once more when the end was reached
   * @param hold called with the bytes that wait from now on, negative for those that no longer wait
   */
  constructor(onRead: (bytes: number) => void, hold: (bytes: number) => void) {
    this.#onRead = onRead
    this.#hold = hold
  }

  /** The number of received and unread bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** True when everything came, and everything was read. */
  get drained(): boolean {
    return this.#ended && this.#chunks.length === 0 && this.#tail === undefined
  }

  push(bytes: Uint8Array): void {
    if (this.#discards) return
    const reader = this.#reader
    if (reader === undefined) {
      this.#store(bytes)
      return
    }
    this.#reader = undefined
    const part = bytes.length > this.#readerMax ? bytes.subarray(0, this.#readerMax) : bytes
    this.#onRead(part.length)
    reader.resolve(isLargePart(part) ? part : new Uint8Array(part))
    if (part.length < bytes.length) this.#store(bytes.subarray(part.length))
  }

  end(): void {
    this.#ended = true
    this.#reader?.resolve(undefined)
    this.#reader = undefined
  }

  /** Fails reads with the error, and drops the buffered bytes, unless `keepComplete` is set and all bytes had come. */
  fail(error: YamuxError, keepComplete: boolean): void {
    if (keepComplete && this.#ended) return
    this.#error = error
    this.#drop()
    this.#reader?.reject(error)
    this.#reader = undefined
  }

  /** Drops the waiting bytes, and all later ones. Readers get the end, once that has come. */
  discard(): void {
    this.#discards = true
    this.#drop()
  }

  read(
    signal: AbortSignal | undefined,
    maxBytes: number = Number.POSITIVE_INFINITY,
  ): Promise<Uint8Array | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#reader !== undefined)
      return Promise.reject(new YamuxError('read_pending', 'another read of this stream is still waiting'))
    const chunk = this.#shift(maxBytes)
    if (chunk !== undefined) {
      this.#free(chunk.length)
      this.#onRead(chunk.length)
      return Promise.resolve(chunk)
    }
    if (this.#ended) return Promise.resolve(undefined)
    this.#reader = abortableDeferred(signal, () => {
      this.#reader = undefined
    })
    this.#readerMax = maxBytes
    return this.#reader.promise
  }

  #store(bytes: Uint8Array): void {
    if (bytes.length >= VIEW_MIN_BYTES && isLargePart(bytes)) {
      this.#seal()
      this.#chunks.push(bytes)
    } else {
      this.#collect(bytes)
    }
    this.#bytes += bytes.length
    // This call comes last, for the owner may find the sum too large, and discard the bytes.
    this.#hold(bytes.length)
  }

  #free(bytes: number): void {
    this.#bytes -= bytes
    if (bytes > 0) this.#hold(-bytes)
  }

  #drop(): void {
    this.#chunks.length = 0
    this.#tail = undefined
    this.#tailBytes = 0
    this.#free(this.#bytes)
  }

  #shift(maxBytes: number): Uint8Array | undefined {
    if (this.#chunks.length === 0) this.#seal()
    const first = this.#chunks[0]
    if (first === undefined || first.length <= maxBytes) return this.#chunks.shift()
    this.#chunks[0] = first.subarray(maxBytes)
    return first.subarray(0, maxBytes)
  }

  #collect(bytes: Uint8Array): void {
    if (this.#tail !== undefined && this.#tail.length - this.#tailBytes < bytes.length) this.#seal()
    // The first small payload is often the only one. A second shows that the reader is behind.
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

/** Says whether a view may be kept. It keeps its whole buffer alive, which one byte of a megabyte must not. */
function isLargePart(bytes: Uint8Array): boolean {
  return bytes.length >= bytes.buffer.byteLength * VIEW_MIN_SHARE
}
