// The received, unparsed bytes of a connection: the caller takes lines or chunks.

import { decodeLatin1 } from '../bytes/latin1.ts'
import { HttpError, type HttpErrorCode } from '../semantics/http-error.ts'
import { UNJOINED_MIN_BYTES, WAITING_PIECES } from './limits.ts'

const CR = 0x0d
const LF = 0x0a
/** The smallest allocation for joining, in bytes. */
const STORE_MIN_BYTES = 4096

/** A LineBuffer holds received bytes until they are taken. Its caller bounds it. */
export class LineBuffer {
  /** The bytes from `#start` to `#end` are unread. Up to `#scanned` they have no LF. */
  #store: Uint8Array = new Uint8Array(0)
  #start = 0
  #end = 0
  #scanned = 0
  /** The chunks that follow the store, as received: at most `WAITING_PIECES`. */
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0

  /** The number of unread bytes. */
  get length(): number {
    return this.#end - this.#start + this.#waitingBytes
  }

  /**
   * Returns the next line without its CRLF, or undefined when it has not arrived.
   * @throws HttpError `tooLong` when it has more than `limit` bytes, `invalid_line_end` at an LF without CR
   */
  readLine(limit: number, tooLong: HttpErrorCode): string | undefined {
    const lf = this.#findLineEnd(limit)
    const last = lf === -1 ? this.#end - 1 : lf - 1
    if (last - this.#start > limit) throw new HttpError(tooLong)
    if (lf === -1) return undefined
    if (last < this.#start || this.#store[last] !== CR) throw new HttpError('invalid_line_end')
    const line = decodeLatin1(this.#store.subarray(this.#start, last))
    this.#skip(lf + 1 - this.#start)
    return line
  }

  /**
   * Returns between 1 and `max` received bytes, which the caller owns. More may be available. Undefined when
   * there are none.
   */
  take(max: number): Uint8Array | undefined {
    const length = Math.min(max, this.#end - this.#start)
    if (length === 0) return undefined
    const bytes = this.#store.subarray(this.#start, this.#start + length)
    const all = length === this.#end - this.#start
    this.#skip(length)
    // A handler may transfer the memory that it gets, so it must not contain bytes that are still needed here.
    return all ? bytes : bytes.slice()
  }

  /** Adds bytes, which the buffer now owns. */
  append(bytes: Uint8Array): void {
    if (this.length === 0) this.#replace(bytes)
    else if (this.#waiting.length === 0 && bytes.length < UNJOINED_MIN_BYTES) this.#join(bytes)
    else {
      if (this.#waiting.length === WAITING_PIECES) while (this.#joinWaiting());
      this.#waiting.push(bytes)
      this.#waitingBytes += bytes.length
    }
  }

  /** Moves waiting chunks into the store until it has an LF. @returns the LF's index, or -1 */
  #findLineEnd(limit: number): number {
    for (;;) {
      const lf = this.#store.indexOf(LF, this.#scanned)
      if (lf !== -1) return lf
      this.#scanned = this.#end
      if (this.#end - 1 - this.#start > limit || !this.#joinWaiting()) return -1
    }
  }

  #skip(length: number): void {
    this.#start += length
    this.#scanned = this.#start
    if (this.#start < this.#end) return
    const next = this.#shiftWaiting()
    if (next) this.#replace(next)
  }

  #replace(store: Uint8Array): void {
    this.#store = store
    this.#start = 0
    this.#scanned = 0
    this.#end = store.length
  }

  #joinWaiting(): boolean {
    const next = this.#shiftWaiting()
    if (next) this.#join(next)
    return next !== undefined
  }

  #shiftWaiting(): Uint8Array | undefined {
    const next = this.#waiting.shift()
    this.#waitingBytes -= next?.length ?? 0
    return next
  }

  #join(bytes: Uint8Array): void {
    if (this.#end + bytes.length > this.#store.length) this.#grow(bytes.length)
    this.#store.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /**
   * Makes room for `by` bytes. It at least doubles the store, so that bytes that arrive one by one are moved only a few
   * times.
   */
  #grow(by: number): void {
    const length = this.#end - this.#start
    const store = new Uint8Array(Math.max(STORE_MIN_BYTES, 2 * (length + by)))
    store.set(this.#store.subarray(this.#start, this.#end))
    this.#scanned -= this.#start
    this.#end = length
    this.#start = 0
    this.#store = store
  }
}
