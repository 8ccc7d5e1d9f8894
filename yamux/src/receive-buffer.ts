// Buffers the received bytes of a stream until they are read. The window bounds the bytes; this file bounds their overhead.

import { abortableDeferred, type Deferred } from './deferred.ts'
import { YamuxError } from './errors.ts'
import { VIEW_MIN_BYTES, VIEW_MIN_SHARE } from './limits.ts'

/** A ByteSink consumes the bytes of a stream as they arrive. */
export interface ByteSink {
  /**
   * Consumes bytes, which are valid only until it returns. The peer gets credit for them.
   * @returns false to pause: further bytes wait, bounded by the window
   */
  take(bytes: Uint8Array): boolean
  /** Called once, when the peer ended its direction and the sink consumed everything. */
  end(): void
  /** Called once, when the stream was reset before that. */
  fail(error: YamuxError): void
}

export class ReceiveBuffer {
  readonly #onRead: (bytes: number) => void
  readonly #hold: (bytes: number) => void
  readonly #sharedInput: boolean
  /** The number of waiting bytes of payload. */
  #bytes = 0
  readonly #chunks: Uint8Array[] = []
  /** The last chunk, while it has room for small payloads. */
  #tail: Uint8Array | undefined
  #tailBytes = 0
  #reader: Deferred<Uint8Array | undefined> | undefined
  /** The most bytes for the pending read. */
  #readerMax = 0
  #sink: ByteSink | undefined
  /** True while the sink consumes bytes. */
  #flows = false
  #discards = false
  #ended = false
  #error: YamuxError | undefined

  /**
   * @param onRead called with the bytes that were read, and once more when the end was reached
   * @param hold called with the change of the number of waiting bytes
   * @param sharedInput whether pushed bytes are valid only during the call
   */
  constructor(onRead: (bytes: number) => void, hold: (bytes: number) => void, sharedInput = false) {
    this.#onRead = onRead
    this.#hold = hold
    this.#sharedInput = sharedInput
  }

  /** The number of received and unread bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** True when everything has arrived and was read. */
  get drained(): boolean {
    return this.#ended && this.#chunks.length === 0 && this.#tail === undefined
  }

  push(bytes: Uint8Array): void {
    if (this.#discards) return
    if (this.#flows) {
      this.#pass(bytes)
      return
    }
    const reader = this.#reader
    if (reader === undefined) {
      this.#store(bytes)
      return
    }
    this.#reader = undefined
    const part = bytes.length > this.#readerMax ? bytes.subarray(0, this.#readerMax) : bytes
    this.#onRead(part.length)
    reader.resolve(this.#mayKeep(part) ? part : new Uint8Array(part))
    if (part.length < bytes.length) this.#store(bytes.subarray(part.length))
  }

  end(): void {
    this.#ended = true
    this.#reader?.resolve(undefined)
    this.#reader = undefined
    if (this.#flows) this.#endSink()
  }

  /** Fails reads with the error, and drops the buffered bytes, unless `keepComplete` is set and all bytes had arrived. */
  fail(error: YamuxError, keepComplete: boolean): void {
    if (keepComplete && this.#ended) return
    this.#error = error
    this.#drop()
    this.#reader?.reject(error)
    this.#reader = undefined
    this.#flows = false
    const sink = this.#sink
    this.#sink = undefined
    sink?.fail(error)
  }

  /** @throws YamuxError when a read is pending */
  passTo(sink: ByteSink): void {
    if (this.#reader !== undefined) throw readPending()
    if (this.#error === undefined) this.#sink = sink
    else sink.fail(this.#error)
  }

  /** Passes waiting and then new bytes to the sink. */
  resume(): void {
    if (this.#sink === undefined || this.#flows) return
    this.#flows = true
    while (this.#flows) {
      const chunk = this.#shift(Number.POSITIVE_INFINITY)
      if (chunk === undefined) break
      this.#free(chunk.length)
      this.#pass(chunk)
    }
    if (this.#flows && this.#ended) this.#endSink()
  }

  /** Drops the waiting bytes and all later ones. Readers get only the end, once it has arrived. */
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
    if (this.#reader !== undefined || this.#sink !== undefined) return Promise.reject(readPending())
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

  #pass(bytes: Uint8Array): void {
    this.#onRead(bytes.length)
    const takesMore = this.#sink?.take(bytes) ?? false
    this.#flows = takesMore && this.#sink !== undefined
  }

  #endSink(): void {
    this.#flows = false
    const sink = this.#sink
    this.#sink = undefined
    sink?.end()
  }

  #mayKeep(bytes: Uint8Array): boolean {
    return !this.#sharedInput && isLargePart(bytes)
  }

  #store(bytes: Uint8Array): void {
    if (bytes.length >= VIEW_MIN_BYTES && isLargePart(bytes)) {
      this.#seal()
      this.#chunks.push(this.#sharedInput ? new Uint8Array(bytes) : bytes)
    } else {
      this.#collect(bytes)
    }
    this.#bytes += bytes.length
    // This call comes last, because the owner may find the sum too large and discard the bytes.
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

function readPending(): YamuxError {
  return new YamuxError('read_pending', 'another read is still waiting')
}

/** Returns whether a view may be kept, which keeps its whole buffer alive. */
function isLargePart(bytes: Uint8Array): boolean {
  return bytes.length >= bytes.buffer.byteLength * VIEW_MIN_SHARE
}
