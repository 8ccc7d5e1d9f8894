// A request body that is read while it arrives, at the reader's pace, and bounded in bytes and time.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RelayError } from '../../errors.ts'
import { discardBody } from '../../http/discard-body.ts'

export class BodyStream implements AsyncIterable<Buffer> {
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #deadline: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #size = 0
  #isEnded = false
  #failure: RelayError | undefined
  #wake: (() => void) | undefined

  /** @param bounds the deadline is counted from now */
  constructor(request: IncomingMessage, { maxBytes, deadlineMs }: { maxBytes: number; deadlineMs: number }) {
    this.#request = request
    this.#maxBytes = maxBytes
    this.#deadline = setTimeout(() => this.#onDeadline(), deadlineMs)
    request.on('error', () => {})
    this.#require(Number(request.headers['content-length'] ?? 0))
    // Adding a listener makes a request flow, so it is paused until the handler reads.
    request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose).pause()
  }

  /**
   * The pieces of the body, once.
   * @throws RelayError `invalid_request` when the body is too large, too slow, or ends early
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) yield chunk
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isEnded) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#request.resume()
      })
    }
  }

  /** Makes the reader get this error from now on, whatever the client sends. */
  fail(error: RelayError): void {
    this.#failure ??= error
    this.#chunks.length = 0
    this.#wake?.()
  }

  /** Must be called before the response is sent: if a part was left unread, the connection ends with `response`. */
  async close(response: ServerResponse): Promise<void> {
    clearTimeout(this.#deadline)
    this.#chunks.length = 0
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    if (this.#isEnded) return
    response.shouldKeepAlive = false
    await discardBody(this.#request)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#request.pause()
    this.#size += chunk.length
    if (!this.#require(this.#size)) return
    this.#chunks.push(chunk)
    this.#wake?.()
  }

  /** A client that sent everything in time passes, even if the reader is late. */
  #onDeadline(): void {
    if (!this.#request.complete) this.fail(refused('the body took too long'))
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true
    this.#wake?.()
  }

  readonly #onClose = (): void => {
    if (!this.#isEnded) this.fail(refused('the body ended early'))
  }

  #require(size: number): boolean {
    if (size > this.#maxBytes) this.fail(refused(`the body is larger than ${this.#maxBytes} bytes`))
    return size <= this.#maxBytes
  }
}

function refused(message: string): RelayError {
  return new RelayError('invalid_request', message)
}
