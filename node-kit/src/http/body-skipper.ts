// Finds where the body of a request ends in the bytes of its connection. Node's parser, which reads them afterwards, refuses malformed bodies.

import type { IncomingHttpHeaders } from 'node:http'

const NOTHING = Buffer.alloc(0)
const LF = 10
/** The size of a chunk, with as many digits as the SDKs accept. */
const SIZE = /^[\da-f]{1,12}(?![\da-f])/i
/** The characters read of a line: one more than those digits. */
const LINE_CHARS = 13
const CRLF_BYTES = 2

export class BodySkipper {
  /** The bytes left of the body, or of the current chunk with its line end. */
  #left: number
  /** What follows these bytes. */
  #next: 'size' | 'trailer' | 'nothing'
  /** The beginning of the current line. */
  #line = ''

  /** @param headers the headers of a request with a length, a chunked body, or no body */
  constructor(headers: IncomingHttpHeaders) {
    this.#left = Number(headers['content-length'] ?? 0)
    this.#next = headers['transfer-encoding'] === undefined ? 'nothing' : 'size'
  }

  /** @returns the bytes after the body; none before its end */
  skip(bytes: Buffer): Buffer {
    let at = 0
    while (at < bytes.length) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, bytes.length - at)
        this.#left -= skipped
        at += skipped
      } else if (this.#next === 'nothing') return bytes.subarray(at)
      else {
        const end = bytes.indexOf(LF, at)
        this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
        this.#line = this.#line.slice(0, LINE_CHARS)
        if (end < 0) break
        this.#endLine()
        at = end + 1
      }
    }
    return NOTHING
  }

  #endLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#next === 'trailer') {
      if (line === '\r') this.#next = 'nothing'
      return
    }
    const size = SIZE.exec(line)
    // The end of a longer one does not matter, because no request is accepted after it.
    const bytes = size === null ? Number.POSITIVE_INFINITY : Number.parseInt(size[0], 16)
    if (bytes === 0) this.#next = 'trailer'
    else this.#left = bytes + CRLF_BYTES
  }
}
