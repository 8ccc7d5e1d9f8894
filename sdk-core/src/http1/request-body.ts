// The body of an HTTP/1.1 request as a pull stream: a slow reader slows down the visitor.

import { HttpError } from '../semantics/http-error.ts'
import { BODY_STALL_MS } from '../semantics/limits.ts'
import { Deadline } from '../timers/deadline.ts'
import { type BodyDecoder, ChunkedDecoder, ContentLengthDecoder } from './body-decoder.ts'
import type { BufferedReader } from './buffered-reader.ts'
import { DRAIN_BYTES, DRAIN_MS, READ_ON_MS } from './limits.ts'

export class Http1RequestBody {
  /** The error in the body, if a read of the handler found one. */
  failure: HttpError | undefined
  readonly #reader: BufferedReader
  readonly #decoder: BodyDecoder
  /** Sends 100 (Continue) to a visitor that waits for it. */
  #sendContinue: (() => Promise<void>) | undefined
  #touched = false
  /** The error with which the next read rejects. */
  #readyError: unknown
  #stream: ReadableStream<Uint8Array> | undefined
  /** True while the handler may read: until the response has ended and the handler stops reading. */
  #open = true
  /** True while a read of the stream is in progress. */
  #isRead = false
  /** Ends the wait for a handler that continues to read. */
  #pause: Deadline | undefined

  constructor(
    reader: BufferedReader,
    length: number | 'chunked',
    sendContinue: (() => Promise<void>) | undefined,
  ) {
    this.#reader = reader
    this.#decoder = length === 'chunked' ? new ChunkedDecoder() : new ContentLengthDecoder(length)
    this.#sendContinue = sendContinue
  }

  /** The body as a stream, as an alternative to `next`. */
  get stream(): ReadableStream<Uint8Array> {
    // The stream queues nothing: each pull is a read of the handler, and only a read sends 100 (Continue).
    this.#stream ??= new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#paused(0) },
      { highWaterMark: 0 },
    )
    return this.#stream
  }

  /** Returns, before the response, whether the connection can probably be reused after it. */
  get isReusable(): boolean {
    if (this.#decoder.done) return true
    // Without 100 (Continue), a visitor may or may not send the body after the response (RFC 9110 §10.1.1).
    if (this.#sendContinue) return false
    return this.#touched || this.#decoder.left <= DRAIN_BYTES
  }

  /**
   * Waits after the response for a handler that still reads, such as one that answered 202 early: until the body ends or breaks, or
   * no read follows for `READ_ON_MS`. Reads have the same deadline as before the response.
   */
  async readOn(): Promise<void> {
    if (this.#isRead)
      await new Promise<void>((resolve) => {
        this.#pause = new Deadline(resolve)
      })
  }

  /** Ends the handler's right to read after the response. */
  release(): void {
    this.#open = false
    this.#reader.interrupt(new HttpError('content_discarded'))
  }

  /**
   * Reads and drops the rest of a released body.
   * @returns whether the next request can be read; if not, it is too late for an error response
   */
  async drain(): Promise<boolean> {
    if (this.#readyError) return false
    const until = performance.now() + DRAIN_MS
    let budget = DRAIN_BYTES
    try {
      while (!this.#decoder.done) {
        const bytes = this.#decoder.decode(this.#reader)
        budget -= bytes?.length ?? 0
        if (budget < 0) return false
        if (!bytes && !this.#decoder.done && !(await this.#reader.more(until))) return false
      }
      return true
    } catch {
      return false
    }
  }

  /** Resolves with the next bytes of the body, or with undefined at its end. Only one read may be pending. */
  async next(): Promise<Uint8Array | undefined> {
    this.#touched = true
    try {
      return await this.#read()
    } catch (error) {
      if (error instanceof HttpError && this.#open) this.failure = error
      throw error
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isRead = true
    this.#pause?.clear()
    let mayFollow = false
    try {
      for (let bytes = await this.next(); bytes; bytes = this.#ready()) controller.enqueue(bytes)
      mayFollow = !this.#decoder.done
      if (!mayFollow) controller.close()
    } finally {
      this.#paused(mayFollow ? READ_ON_MS : 0)
    }
  }

  #paused(forMs: number): void {
    this.#isRead = false
    this.#pause?.set(performance.now() + forMs)
  }

  /** Returns bytes that arrived together with those just read, so that they need no second wait. */
  #ready(): Uint8Array | undefined {
    if (!this.#open || this.#reader.length === 0) return undefined
    try {
      return this.#decoder.decode(this.#reader)
    } catch (error) {
      // The handler first gets the bytes before the error.
      this.#readyError = error
      return undefined
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    await this.#invite()
    for (;;) {
      if (this.#readyError) throw this.#readyError
      if (!this.#open) throw new HttpError('content_discarded')
      const bytes = this.#decoder.decode(this.#reader)
      if (bytes || this.#decoder.done) return bytes
      const isMore = await this.#reader.more(performance.now() + BODY_STALL_MS, 'body_timeout')
      if (!isMore) throw new HttpError('incomplete_message')
    }
  }

  async #invite(): Promise<void> {
    const sendContinue = this.#sendContinue
    this.#sendContinue = undefined
    // 100 (Continue) is omitted when the body is already arriving (RFC 9110 §10.1.1).
    if (sendContinue && this.#open && this.#reader.length === 0) await sendContinue()
  }
}
