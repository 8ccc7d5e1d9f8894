// Parses the head of a response line by line, as it comes, and frames its content (RFC 9112 §4, §5, §6.3).

import type { Field } from '@svc/sdk-core'
import { HEAD_BYTES, HttpError, type LineBuffer, parseField } from '@svc/sdk-core/http1'
import { INTERIM_RESPONSES_MAX, RESPONSE_FIELDS_MAX } from '../limits.ts'

// A server may leave out the reason phrase and the space before it, which clients commonly accept.
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/
const LENGTH = /^\d{1,15}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i
const LINE_END_BYTES = 2

/** ResponseHead is the final head of a response. */
export interface ResponseHead {
  status: number
  statusText: string
  fields: Field[]
  /** The sign by which the content ends: a number of octets, the chunked coding, or the end of the connection. */
  framing: number | 'chunked' | 'close'
  /** The Content-Length, which a response to HEAD has without the content. */
  length: number | undefined
  /** True when another request can follow on the connection. */
  persistent: boolean
  /** The time for which the server keeps the idle connection, in milliseconds, if it says so. */
  keptMs: number | undefined
}

interface Line {
  isOld: boolean
  status: number
  statusText: string
}

export class ResponseHeadParser {
  readonly #method: string
  #line: Line | undefined
  #fields: Field[] = []
  /** The bytes that this head, with those of interim responses before it, may still have. */
  #left = HEAD_BYTES
  #interim = 0

  /** @param method the request's method */
  constructor(method: string) {
    this.#method = method
  }

  /**
   * Reads on.
   * @returns the final head, or undefined when more bytes are needed; interim responses (RFC 9110 §15.2) are dropped
   * @throws HttpError when the head is malformed or too large
   */
  read(buffer: LineBuffer): ResponseHead | undefined {
    for (;;) {
      const text = buffer.readLine(Math.max(0, this.#left - LINE_END_BYTES), 'head_too_large')
      if (text === undefined) return undefined
      this.#left -= text.length + LINE_END_BYTES
      if (!this.#line) this.#line = parseStatusLine(text)
      else if (text === '') {
        const head = this.#end(this.#line)
        if (head) return head
      } else {
        if (this.#fields.length === RESPONSE_FIELDS_MAX) throw new HttpError('head_too_large')
        this.#fields.push(parseField(text))
      }
    }
  }

  #end({ isOld, status, statusText }: Line): ResponseHead | undefined {
    const fields = this.#fields
    this.#line = undefined
    this.#fields = []
    if (status >= 200) return frame({ status, statusText, fields, isOld, method: this.#method })
    this.#interim += 1
    // No request asks for another protocol here.
    if (status === 101 || this.#interim > INTERIM_RESPONSES_MAX) throw new HttpError('invalid_request_line')
    return undefined
  }
}

function parseStatusLine(text: string): Line {
  const match = STATUS_LINE.exec(text)
  if (!match) throw new HttpError('invalid_request_line')
  return { isOld: match[1] === '0', status: Number(match[2]), statusText: match[3] ?? '' }
}

/** Refuses every framing that two parsers could read in two ways (RFC 9112 §11.1). */
function frame({
  status,
  statusText,
  fields,
  isOld,
  method,
}: Line & { fields: Field[]; method: string }): ResponseHead {
  let coding: string | undefined
  let length: number | undefined
  let options = ''
  let keptMs: number | undefined
  for (const [name, value] of fields) {
    if (name === 'transfer-encoding')
      coding = coding === undefined ? value.toLowerCase() : `${coding},${value}`
    else if (name === 'content-length') {
      if (length !== undefined || !LENGTH.test(value)) throw new HttpError('invalid_content_length')
      length = Number(value)
    } else if (name === 'connection') options += `,${value.toLowerCase()}`
    else if (name === 'keep-alive') keptMs = keptMsOf(value)
  }
  if (coding !== undefined && length !== undefined) throw new HttpError('ambiguous_length')
  if (coding !== undefined && (coding !== 'chunked' || isOld))
    throw new HttpError('invalid_transfer_encoding')
  const has = (option: string): boolean => options.split(',').some((one) => one.trim() === option)
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  return {
    status,
    statusText,
    fields,
    framing: isEmpty ? 0 : coding === 'chunked' ? 'chunked' : (length ?? 'close'),
    length: status === 204 ? undefined : length,
    persistent: options === '' ? !isOld : !has('close') && (!isOld || has('keep-alive')),
    keptMs,
  }
}

function keptMsOf(value: string): number | undefined {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
