// Checks raw request lines, because Node's parser silently accepts several spaces as one.

import type { IncomingMessage } from 'node:http'
import { BodySkipper } from './body-skipper.ts'
import { REQUEST_HEAD_MAX_BYTES, REQUEST_LINE_MAX_BYTES } from './limits.ts'

const NOTHING = Buffer.alloc(0)
const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
/** RFC 9112 §2.2: an empty line or two may come before a request line. */
const EMPTY_LINES_MAX_BYTES = 4

/** Tracks the bytes of one connection from each head to the next. */
export class RequestLines {
  /** The body before the next head. */
  #body: BodySkipper | undefined
  #emptyLineBytes = 0
  /** The beginning of the head: at least its request line, unless that is too long. */
  #line: Buffer = NOTHING
  /** The last received bytes of the head, in which its end may begin. */
  #tail: Buffer = NOTHING
  /** The bytes after the head, once it has ended: their meaning depends on its fields, which the parser reads. */
  #behind: Buffer | undefined

  /** The beginning of the current head, as far as it was kept. */
  get beginning(): string {
    return this.#line.toString('latin1')
  }

  append(bytes: Buffer): void {
    if (this.#behind === undefined) this.#appendToHead(this.#body?.skip(bytes) ?? bytes)
    // More than that arrives only after a head that Node answers itself, after which no request is accepted.
    else if (this.#behind.length <= REQUEST_HEAD_MAX_BYTES) this.#behind = concat(this.#behind, bytes)
  }

  /**
   * Continues with the bytes after the head that the parser has just read.
   * @returns whether the request line follows RFC 9112 §3, with single spaces, and at most `REQUEST_LINE_MAX_BYTES`
   */
  takeLineOf({ method, url, httpVersion, headers }: IncomingMessage): boolean {
    const behind = this.#behind
    if (behind === undefined) return false
    const line = `${method} ${url} HTTP/${httpVersion}\r\n`
    const isGood =
      this.#emptyLineBytes % LINE_END.length === 0 && this.#line.toString('latin1', 0, line.length) === line
    this.#body = new BodySkipper(headers)
    this.#emptyLineBytes = 0
    this.#line = NOTHING
    this.#tail = NOTHING
    this.#behind = undefined
    this.append(behind)
    return isGood
  }

  #appendToHead(bytes: Buffer): void {
    const head = this.#line.length === 0 ? bytes.subarray(this.#countEmptyLines(bytes)) : bytes
    if (head.length === 0) return
    if (this.#line.length < REQUEST_LINE_MAX_BYTES + LINE_END.length) this.#line = concat(this.#line, head)
    const last = concat(this.#tail, head)
    const end = last.indexOf(HEAD_END)
    if (end < 0) this.#tail = last.subarray(1 - HEAD_END.length)
    else this.#behind = last.subarray(end + HEAD_END.length)
  }

  /** @returns the number of bytes in empty lines before the request line */
  #countEmptyLines(bytes: Buffer): number {
    let count = 0
    while (
      count < bytes.length &&
      this.#emptyLineBytes < EMPTY_LINES_MAX_BYTES &&
      bytes[count] === LINE_END[this.#emptyLineBytes % LINE_END.length]
    ) {
      this.#emptyLineBytes++
      count++
    }
    return count
  }
}

function concat(first: Buffer, second: Buffer): Buffer {
  return first.length === 0 ? second : Buffer.concat([first, second])
}
