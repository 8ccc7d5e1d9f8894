// Reads the visitor's bytes ahead within a bound: the caller takes lines or pieces, and waits for more with a deadline.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { decodeLatin1 } from '../bytes/latin1.ts'
import { HttpError, type HttpErrorCode } from '../semantics/http-error.ts'
import { Deadline } from '../timers/deadline.ts'
import { READ_AHEAD_BYTES } from './limits.ts'

const CR = 0x0d
const LF = 0x0a
/** The least number of bytes to allocate when bytes have to be joined. */
const STORE_MIN_BYTES = 4096

interface Waiter {
  resolve(more: boolean): void
  reject(error: unknown): void
  late: HttpErrorCode | undefined
}

interface ReaderEvents {
  /** Called when the visitor ended its direction in order. */
  ended(): void
  /** Called when the stream broke. */
  broken(error: unknown): void
}

/**
 * BufferedReader reads on while the handler works, so that the SDK notices a visitor that leaves, but only up to
 * `READ_AHEAD_BYTES`: then the stream's own back-pressure stops the visitor.
 */
export class BufferedReader {
  readonly #stream: ByteStream
  readonly #events: ReaderEvents
  readonly #deadline: Deadline = new Deadline(() => this.expire())
  /** The bytes from `#start` to `#end` are unread. Up to `#scanned` they have no LF. */
  #store: Uint8Array = new Uint8Array(0)
  #start = 0
  #end = 0
  #scanned = 0
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
    return this.#end - this.#start
  }

  /** True when the visitor ended its direction. Bytes that it sent before may still wait here. */
  get ended(): boolean {
    return this.#state === 'ended'
  }

  /**
   * Returns the next line without its CRLF, or undefined when it has not come yet.
   * @throws HttpError `tooLong` when it has more than `limit` bytes, `invalid_line_end` at an LF without CR
   */
  readLine(limit: number, tooLong: HttpErrorCode): string | undefined {
    const lf = this.#store.indexOf(LF, this.#scanned)
    const last = lf === -1 ? this.#end - 1 : lf - 1
    if (last - this.#start > limit) throw new HttpError(tooLong)
    if (lf === -1) {
      this.#scanned = this.#end
      return undefined
    }
    if (last < this.#start || this.#store[last] !== CR) throw new HttpError('invalid_line_end')
    const line = decodeLatin1(this.#store.subarray(this.#start, last))
    this.#skip(lf + 1 - this.#start)
    return line
  }

  /** Returns up to `max` of the bytes that have come, for the caller to keep. Undefined when there are none. */
  take(max: number): Uint8Array | undefined {
    const length = Math.min(max, this.length)
    if (length === 0) return undefined
    const bytes = this.#store.subarray(this.#start, this.#start + length)
    const all = length === this.length
    this.#skip(length)
    // A handler may transfer the memory that it gets, so that must not hold bytes that are still needed here.
    return all ? bytes : bytes.slice()
  }

  /**
   * Waits for more bytes than have come.
   * @param until a time of `performance.now()`
   * @param late the code of the error with which the wait rejects after `until`
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

  /** Rejects the current wait, if there is one. */
  interrupt(error: unknown): void {
    this.#settle()?.reject(error)
  }

  /** Ends the current wait as if its time were over. */
  expire(): void {
    const waiter = this.#settle()
    if (waiter?.late) waiter.reject(new HttpError(waiter.late))
    else waiter?.resolve(false)
  }

  /** Fails because the connection is over: the wait rejects with `error`, and reading stops. */
  fail(error: unknown): void {
    this.#state = 'broken'
    this.#failure = error
    this.interrupt(error)
    this.#deadline.close()
  }

  #skip(length: number): void {
    this.#start += length
    this.#scanned = this.#start
    this.#readAhead()
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
      this.#append(bytes)
      this.#settle()?.resolve(true)
    }
    this.#readAhead()
  }

  #append(bytes: Uint8Array): void {
    if (this.length === 0) {
      this.#store = bytes
      this.#start = 0
      this.#scanned = 0
      this.#end = bytes.length
      return
    }
    if (this.#end + bytes.length > this.#store.length) this.#grow(bytes.length)
    this.#store.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /**
   * Makes room for `by` bytes. It at least doubles the store, so that bytes that come one by one are moved only a few
   * times.
   */
  #grow(by: number): void {
    const store = new Uint8Array(Math.max(STORE_MIN_BYTES, 2 * (this.length + by)))
    store.set(this.#store.subarray(this.#start, this.#end))
    this.#scanned -= this.#start
    this.#end = this.length
    this.#start = 0
    this.#store = store
  }

  #settle(): Waiter | undefined {
    const waiter = this.#waiter
    this.#waiter = undefined
    this.#deadline.clear()
    return waiter
  }
}
