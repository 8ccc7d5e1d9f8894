// The body of an HTTP/2 request: DATA is buffered, up to the stream's window, until the handler reads.

import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { BODY_STALL_MS } from '../semantics/limits.ts'
import { Deadline } from '../timers/deadline.ts'

/** The smallest allocation for joining, in bytes. */
const STORE_MIN_BYTES = 4096

export class Http2RequestBody {
  /** The error in the body, if a read of the handler found one. */
  failure: HttpError | undefined
  /** Sends 100 (Continue) to a visitor that waits for it. */
  sendContinue: (() => void) | undefined
  /** The trailer fields, if the request ended with some. */
  trailers: readonly Field[] | undefined
  readonly #consumed: (bytes: number, hasWaited: boolean) => void
  readonly #queue = new ByteQueue()
  readonly #deadline = new Deadline(() => this.#late())
  #stream: ReadableStream<Uint8Array> | undefined
  #ended = false
  #over: { error: unknown } | undefined
  #wake: (() => void) | undefined

  /**
   * @param consumed called with the number of bytes that were read or discarded, and with whether the reader
   *   waited for them
   */
  constructor(consumed: (bytes: number, hasWaited: boolean) => void) {
    this.#consumed = consumed
  }

  /** The body as a stream, as an alternative to `next`. */
  get stream(): ReadableStream<Uint8Array> {
    // The stream queues nothing: each pull is a read of the handler, and only a read returns credit.
    this.#stream ??= new ReadableStream(
      { pull: (controller) => this.#pull(controller) },
      { highWaterMark: 0 },
    )
    return this.#stream
  }

  /** Resolves as `read` does, with the deadline for the next bytes of a body. */
  next(stallMs: number = BODY_STALL_MS): Promise<Uint8Array | undefined> {
    return this.read(stallMs)
  }

  push(bytes: Uint8Array): void {
    if (this.#over) this.#consumed(bytes.length, false)
    else {
      this.#queue.push(bytes)
      this.#notify()
    }
  }

  end(): void {
    this.#ended = true
    this.#notify()
  }

  /** Makes all reads fail, including the current one. The first reason wins. */
  fail(error: unknown): void {
    if (this.#over) return
    this.#over = { error }
    this.#consumed(this.#queue.take().length, false)
    this.#notify()
  }

  /**
   * Resolves with all received bytes, or with the next to arrive; undefined at the end. Only one read may be
   * pending.
   * @param stallMs the longest wait, in milliseconds
   */
  async read(stallMs: number = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    const hasWaited = this.#queue.length === 0
    if (!(await this.begins(stallMs))) return undefined
    const bytes = this.#queue.take()
    this.#consumed(bytes.length, hasWaited)
    return bytes
  }

  /**
   * Waits as `read` does, without consuming bytes.
   * @returns false at the end
   */
  async begins(stallMs: number): Promise<boolean> {
    this.#invite()
    while (this.#queue.length === 0) {
      if (this.#over) throw this.#over.error
      if (this.#ended) return false
      this.#deadline.set(performance.now() + stallMs)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return true
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const bytes = await this.next()
    if (bytes) controller.enqueue(bytes)
    if (this.#ended && this.#queue.length === 0) controller.close()
  }

  #late(): void {
    this.failure = new HttpError('body_timeout')
    this.fail(this.failure)
  }

  #invite(): void {
    // 100 (Continue) is omitted when the body is already arriving (RFC 9110 §10.1.1).
    if (this.#queue.length === 0 && !this.#ended && !this.#over) this.sendContinue?.()
    this.sendContinue = undefined
  }

  #notify(): void {
    this.#deadline.clear()
    if (this.#ended || this.#over) this.#deadline.close()
    this.#wake?.()
    this.#wake = undefined
  }
}

/** A queue of bytes in one array, so that tiny frames cost no more than their octets. */
class ByteQueue {
  #store: Uint8Array = new Uint8Array(0)
  length = 0

  /** Copies `bytes`, which may be part of a larger buffer that is still in use. */
  push(bytes: Uint8Array): void {
    const length = this.length + bytes.length
    if (this.length === 0) this.#store = bytes.slice()
    else {
      if (length > this.#store.length) this.#grow(length)
      this.#store.set(bytes, this.length)
    }
    this.length = length
  }

  /** Returns all queued bytes, which the caller owns. */
  take(): Uint8Array {
    const bytes = this.#store.subarray(0, this.length)
    this.#store = new Uint8Array(0)
    this.length = 0
    return bytes
  }

  #grow(length: number): void {
    const store = new Uint8Array(Math.max(STORE_MIN_BYTES, 2 * length))
    store.set(this.#store.subarray(0, this.length))
    this.#store = store
  }
}
