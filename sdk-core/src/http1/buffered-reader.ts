// Reads the visitor's bytes ahead, up to a limit: the caller takes lines or chunks, and waits for more with a deadline.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { HttpError, type HttpErrorCode } from '../semantics/http-error.ts'
import { Deadline } from '../timers/deadline.ts'
import { READ_AHEAD_BYTES } from './limits.ts'
import { LineBuffer } from './line-buffer.ts'

interface Waiter {
  resolve(more: boolean): void
  reject(error: unknown): void
  late: HttpErrorCode | undefined
}

interface ReaderEvents {
  /** Called when the visitor ended its direction cleanly. */
  ended(): void
  /** Called when the stream broke. */
  broken(error: unknown): void
}

/**
 * BufferedReader keeps reading while the handler works, so that the SDK notices when the visitor leaves, but only up to
 * `READ_AHEAD_BYTES`: then the stream's own back-pressure stops the visitor.
 */
export class BufferedReader {
  readonly #stream: ByteStream
  readonly #events: ReaderEvents
  readonly #deadline: Deadline = new Deadline(() => this.expire())
  readonly #unread = new LineBuffer()
  #state: 'open' | 'ended' | 'broken' = 'open'
  #failure: unknown
  #reading = false
  #waiter: Waiter | undefined

  constructor(stream: ByteStream, events: ReaderEvents) {
    this.#stream = stream
    this.#events = events
  }

  /** The number of bytes that can be taken now. */
  get length(): number {
    return this.#unread.length
  }

  /** True when the visitor ended its direction. Bytes that it sent earlier may still be unread. */
  get ended(): boolean {
    return this.#state === 'ended'
  }

  /**
   * Returns the next line without its CRLF, or undefined when it has not arrived.
   * @throws HttpError `tooLong` when it has more than `limit` bytes, `invalid_line_end` at an LF without CR
   */
  readLine(limit: number, tooLong: HttpErrorCode): string | undefined {
    const line = this.#unread.readLine(limit, tooLong)
    if (line !== undefined) this.#readAhead()
    return line
  }

  /**
   * Returns between 1 and `max` received bytes, which the caller owns. More may be available. Undefined when
   * there are none.
   */
  take(max: number): Uint8Array | undefined {
    const bytes = this.#unread.take(max)
    if (bytes) this.#readAhead()
    return bytes
  }

  /**
   * Waits for more bytes to arrive.
   * @param until a time of `performance.now()`
   * @param late the error code with which the wait rejects after `until`
   * @returns false when none will come: the visitor ended its direction, or, without `late`, `until` has passed
   */
  more(until: number, late?: HttpErrorCode): Promise<boolean> {
    if (this.#state === 'broken') return Promise.reject(this.#failure)
    if (this.#state === 'ended') return Promise.resolve(false)
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject, late }
      this.#deadline.set(until)
      this.#readAhead()
    })
  }

  /** Rejects the current wait, if any. */
  interrupt(error: unknown): void {
    this.#settle()?.reject(error)
  }

  /** Ends the current wait as if `until` had passed. */
  expire(): void {
    const waiter = this.#settle()
    if (waiter?.late) waiter.reject(new HttpError(waiter.late))
    else waiter?.resolve(false)
  }

  /** Stops reading and rejects the wait with `error`, because the connection is over. */
  fail(error: unknown): void {
    this.#state = 'broken'
    this.#failure = error
    this.interrupt(error)
    this.#deadline.close()
  }

  #readAhead(): void {
    if (this.#reading || this.#state !== 'open') return
    if (this.#waiter === undefined && this.length >= READ_AHEAD_BYTES) return
    this.#reading = true
    this.#stream.read().then(
      (bytes) => this.#received(bytes),
      (error) => this.#events.broken(error),
    )
  }

  #received(bytes: Uint8Array | undefined): void {
    this.#reading = false
    if (this.#state !== 'open') return
    if (bytes === undefined) {
      this.#state = 'ended'
      this.#events.ended()
      this.#settle()?.resolve(false)
      return
    }
    if (bytes.length > 0) {
      this.#unread.append(bytes)
      this.#settle()?.resolve(true)
    }
    this.#readAhead()
  }

  #settle(): Waiter | undefined {
    const waiter = this.#waiter
    this.#waiter = undefined
    this.#deadline.clear()
    return waiter
  }
}
