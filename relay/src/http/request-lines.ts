// Compares request lines with what Node's parser made of them: it takes several blanks for one, and tells nobody.

import type { IncomingMessage } from 'node:http'
import { REQUEST_LINE_MAX_BYTES } from '../limits.ts'

const NOTHING = Buffer.alloc(0)
/** RFC 9112 §2.2: an empty line or two may come before a request line. */
const LINE_ENDS = /^(?:\r\n){0,2}$/

export class RequestLines {
  /** Bytes since the head of the last request, or a part of them that has the next request line. */
  #bytes: Buffer = NOTHING
  /** The length of the first of these pieces. */
  #first = 0
  #last: Buffer = NOTHING
  /** Whether these bytes begin with the next request line, and not with a body or the rest of a head. */
  #isExact = true
  #isCut = false

  /** @param isBody whether they begin amid the body of a request */
  append(bytes: Buffer, isBody: boolean): void {
    this.#last = bytes
    if (isBody || this.#bytes.length === 0) {
      this.#bytes = bytes
      this.#first = bytes.length
      if (isBody) this.#isExact = false
    } else if (this.#bytes.length - this.#first <= REQUEST_LINE_MAX_BYTES)
      this.#bytes = Buffer.concat([this.#bytes, bytes])
    else this.#isCut = true
  }

  /** Goes on to the bytes behind the head. @returns whether the request line is as RFC 9112 §3 has it, with single blanks */
  takeLineOf({ method, url, httpVersion, headers }: IncomingMessage): boolean {
    const at = this.#bytes.indexOf(`${method} ${url} HTTP/${httpVersion}\r\n`, 0, 'latin1')
    const isGood = at >= 0 && (!this.#isExact || LINE_ENDS.test(this.#bytes.toString('latin1', 0, at)))
    const end = this.#isCut ? -1 : this.#bytes.indexOf('\r\n\r\n', Math.max(at, 0))
    this.#bytes = end < 0 ? this.#last : this.#bytes.subarray(end + 4)
    this.#isExact =
      end >= 0 && headers['transfer-encoding'] === undefined && /^0*$/.test(headers['content-length'] ?? '')
    this.#first = this.#bytes.length
    this.#isCut = false
    return isGood
  }
}
