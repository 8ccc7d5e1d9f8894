// The body of an HTTP/1.1 request as a pull stream: a handler that reads slowly stops the visitor.

import { HttpError } from '../semantics/http-error.ts'
import { BODY_STALL_MS } from '../semantics/limits.ts'
import { type BodyDecoder, ChunkedDecoder, ContentLengthDecoder } from './body-decoder.ts'
import type { BufferedReader } from './buffered-reader.ts'
import { DRAIN_BYTES, DRAIN_MS } from './limits.ts'

export class Http1RequestBody {
  readonly stream: ReadableStream<Uint8Array>
  /** The error in the body, when a read of the handler found one. */
  failure: HttpError | undefined
  readonly #reader: BufferedReader
  readonly #decoder: BodyDecoder
  /** Asks the visitor, which waits for that, to send the body. */
  #sendContinue: (() => Promise<void>) | undefined
  #touched = false
  /** True while the handler may read, which it may until the response has ended. */
  #open = true

  constructor(
    reader: BufferedReader,
    length: number | 'chunked',
    sendContinue: (() => Promise<void>) | undefined,
  ) {
    this.#reader = reader
    this.#decoder = length === 'chunked' ? new ChunkedDecoder() : new ContentLengthDecoder(length)
    this.#sendContinue = sendContinue
    // The stream itself queues nothing: each pull is a read of the handler, and only that invites the body.
    this.stream = new ReadableStream({ pull: (controller) => this.#pull(controller) }, { highWaterMark: 0 })
  }

  /** Says, before the response, whether the connection can probably go on after it. */
  get isReusable(): boolean {
    if (this.#decoder.done) return true
    // A visitor that was not invited may or may not send the body after the response (RFC 9110 §10.1.1).
    if (this.#sendContinue) return false
    return this.#touched || this.#decoder.left <= DRAIN_BYTES
  }

  /** Ends the handler's reading after the response. */
  release(): void {
    this.#open = false
    this.#reader.interrupt(new HttpError('content_discarded'))
  }

  /**
   * Reads and drops the rest of a released body.
   * @returns whether the next request can be read; if not, it is too late for an error response
   */
  async drain(): Promise<boolean> {
    const until = performance.now() + DRAIN_MS
    let budget = DRAIN_BYTES
    try {
      while (!this.#decoder.done) {
        budget -= this.#decoder.decode(this.#reader)?.length ?? 0
        if (budget < 0) return false
        if (!this.#decoder.done && !(await this.#reader.more(until))) return false
      }
      return true
    } catch {
      return false
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#touched = true
    try {
      const bytes = await this.#read()
      if (bytes) controller.enqueue(bytes)
      if (this.#decoder.done) controller.close()
    } catch (error) {
      if (error instanceof HttpError && this.#open) this.failure = error
      throw error
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    await this.#invite()
    for (;;) {
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
    // No invitation is sent when the body is coming already (RFC 9110 §10.1.1).
    if (sendContinue && this.#open && this.#reader.length === 0) await sendContinue()
  }
}
