// Parses an HTTP/1.1 request line by line, as it arrives: request line and fields (RFC 9112 §3, §5).

import type { HttpOptions } from '../exchange/http-options.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { HEAD_BYTES, HEAD_DEADLINE_MS, HEAD_FIELDS, IDLE_MS } from '../semantics/limits.ts'
import type { RequestHead } from '../semantics/request-head.ts'
import type { BufferedReader } from './buffered-reader.ts'
import { REQUEST_LINE_BYTES } from './limits.ts'

// Exactly one SP separates the parts: RFC 9112 §3 lets a server accept other white space, but that has allowed request
// smuggling.
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) ([\x21-\x7e]+) HTTP\/(\d\.\d)$/
// A field line has no white space before the colon, no obs-fold, and no control character but HTAB (RFC 9110 §5.5).
const FIELD_LINE = /^([!#$%&'*+.^_`|~\w-]+):([\t\x20-\x7e\x80-\xff]*)$/
const LINE_END_BYTES = 2

type HeadOptions = Pick<HttpOptions, 'closing' | 'activity'>

/**
 * Resolves with the next head on the connection, or with undefined when there is none: the visitor ended the connection
 * or is idle, or `closing` was aborted before the head began.
 * @param fields gets those that are read, also of a head that is refused
 * @throws HttpError when the head is malformed, too large or late
 */
export async function readRequestHead(
  reader: BufferedReader,
  options: HeadOptions = {},
  fields: Field[] = [],
): Promise<RequestHead | undefined> {
  if (reader.length === 0 && !(await begins(reader, options))) return undefined
  options.activity?.('beginning')
  const lines = new HeadLines(reader)
  // At least one empty line before the request line is ignored (RFC 9112 §2.2).
  const first = await lines.next(REQUEST_LINE_BYTES, 'request_line_too_long')
  const line = first || (await lines.next(REQUEST_LINE_BYTES, 'request_line_too_long'))
  const head = parseRequestLine(line, fields)
  for (;;) {
    const line = await lines.next(lines.left, 'head_too_large')
    if (line === '') return head
    if (fields.length === HEAD_FIELDS) throw new HttpError('head_too_large')
    fields.push(parseField(line))
  }
}

async function begins(reader: BufferedReader, { closing, activity }: HeadOptions): Promise<boolean> {
  if (closing?.aborted) return false
  activity?.('idle')
  const giveUp = (): void => reader.expire()
  closing?.addEventListener('abort', giveUp)
  try {
    return await reader.more(performance.now() + IDLE_MS)
  } finally {
    closing?.removeEventListener('abort', giveUp)
  }
}

/**
 * Parses one field line.
 * @throws HttpError `invalid_field`
 */
export function parseField(line: string): Field {
  const match = FIELD_LINE.exec(line)
  if (!match) throw new HttpError('invalid_field')
  return [match[1]!.toLowerCase(), trimWhiteSpace(match[2]!), match[1]!]
}

function parseRequestLine(line: string, fields: Field[]): RequestHead {
  const match = REQUEST_LINE.exec(line)
  if (!match) throw new HttpError('invalid_request_line')
  const version = match[3]!
  if (version !== '1.1' && version !== '1.0') throw new HttpError('version_not_supported')
  return { method: match[1]!, target: match[2]!, version, fields }
}

/**
 * Trims the white space of HTTP. `trim` would also take NBSP, which is obs-text here, and a regular expression could
 * take quadratic time. A trailing HTAB remains: llhttp does not treat it as white space after `chunked`, so the fields
 * that the SDK reads must keep it. `Headers` trims it for the handler.
 */
function trimWhiteSpace(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ' || text[start] === '\t') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}

/** Reads the lines of one head within its size and deadline. */
class HeadLines {
  /** The number of bytes left for the head. */
  left: number = HEAD_BYTES - LINE_END_BYTES
  readonly #reader: BufferedReader
  readonly #until: number = performance.now() + HEAD_DEADLINE_MS

  constructor(reader: BufferedReader) {
    this.#reader = reader
  }

  async next(limit: number, tooLong: 'request_line_too_long' | 'head_too_large'): Promise<string> {
    for (;;) {
      const line = this.#reader.readLine(limit, tooLong)
      if (line !== undefined) {
        this.left -= line.length + LINE_END_BYTES
        return line
      }
      if (!(await this.#reader.more(this.#until, 'head_timeout'))) throw new HttpError('incomplete_message')
    }
  }
}
