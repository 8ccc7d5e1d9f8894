// Parses the head of a response line by line, as it arrives, and finds its framing (RFC 9112 §4, §5, §6.3).

import type { Field, Inform } from '@svc/sdk-core'
import { HEAD_BYTES, HttpError, type LineBuffer, parseField } from '@svc/sdk-core/http1'
import { AnswerError } from './target-fault.ts'

/** The most field lines of a local server's response: many more than servers send, even with one for each cookie. */
export const RESPONSE_FIELDS_MAX = 500
/** The most interim responses (RFC 9110 §15.2) before one response of a local server, which sends one or two. */
export const INTERIM_RESPONSES_MAX = 16

// A server may leave out the reason phrase and the space before it, which clients commonly accept.
const STATUS_LINE = /^HTTP\/1\.([01]) (\d\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/
const LENGTH = /^\d{1,15}$/
/** White space before the colon, which a proxy removes from a response (RFC 9112 §5.1). */
const SPACED_COLON = /^([!#$%&'*+.^_`|~\w-]+)[\t ]+:/
const NAME = /^[!#$%&'*+.^_`|~\w-]+/
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i
const LINE_END_BYTES = 2

/** ResponseHead is the final head of a response. */
export interface ResponseHead {
  status: number
  statusText: string
  fields: Field[]
  /** What marks the end of the content: a length in octets, the chunked coding, or the end of the connection. */
  framing: number | 'chunked' | 'close'
  /** The Content-Length, which a response to HEAD has without content. */
  length: number | undefined
  /** True when another request can follow on the connection. */
  persistent: boolean
  /** How long the server keeps an idle connection, in milliseconds, if it says so. */
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
  /** The number of bytes left for this head and preceding interim responses. */
  #left = HEAD_BYTES
  #interim = 0
  readonly #informed: Inform

  /**
   * @param method the request's method
   * @param interim called with each interim response (RFC 9110 §15.2)
   */
  constructor(method: string, interim: Inform) {
    this.#method = method
    this.#informed = interim
  }

  /**
   * Reads more.
   * @returns the final head, or undefined when more bytes are needed
   * @throws HttpError, AnswerError when the head is malformed or too large
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
        this.#fields.push(parseLine(text))
      }
    }
  }

  #end({ isOld, status, statusText }: Line): ResponseHead | undefined {
    const fields = this.#fields
    this.#line = undefined
    this.#fields = []
    if (status >= 200) return frame({ status, statusText, fields, isOld, method: this.#method })
    this.#interim += 1
    if (status === 101) throw new AnswerError('switched protocols without a request to')
    if (this.#interim > INTERIM_RESPONSES_MAX)
      throw new AnswerError('answered with too many interim responses')
    this.#informed(status, statusText, fields)
    return undefined
  }
}

function parseStatusLine(text: string): Line {
  const match = STATUS_LINE.exec(text)
  if (!match) throw new HttpError('invalid_request_line')
  const status = Number(match[2])
  // RFC 9110 §15: other statuses are invalid.
  if (status < 100 || status > 599)
    throw new AnswerError(`answered with the status ${match[2]}, which HTTP does not have`)
  return { isOld: match[1] === '0', status, statusText: match[3] ?? '' }
}

function parseLine(line: string): Field {
  // RFC 9112 §5.2 lets a proxy refuse a folded field.
  if (/^[\t ]/.test(line)) throw new AnswerError('answered with a header field on more than one line')
  try {
    return parseField(line.replace(SPACED_COLON, '$1:'))
  } catch (cause) {
    const name = NAME.exec(line)?.[0] ?? 'without a name'
    throw new AnswerError(`answered with a malformed header field (${name})`, { cause })
  }
}

/** Refuses any framing that parsers may read differently (RFC 9112 §11.1). */
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
      length = parseLength(value, length)
    } else if (name === 'connection') options += `,${value.toLowerCase()}`
    else if (name === 'keep-alive') keptMs = keptMsOf(value)
  }
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  if (!isEmpty && coding !== undefined) checkCoding(coding, length, isOld)
  const has = (option: string): boolean => options.split(',').some((one) => one.trim() === option)
  return {
    status,
    statusText,
    fields,
    framing: isEmpty ? 0 : coding === 'chunked' ? 'chunked' : (length ?? 'close'),
    // If both exist, the coding wins (RFC 9112 §6.3), and the length is not that of a GET.
    length: status === 204 || coding !== undefined ? undefined : length,
    persistent: options === '' ? !isOld : !has('close') && (!isOld || has('keep-alive')),
    keptMs,
  }
}

/** Repeated equal lengths count as one (RFC 9110 §8.6). */
function parseLength(value: string, before: number | undefined): number {
  let length = before
  for (const text of value.split(',')) {
    const digits = text.trim()
    if (!LENGTH.test(digits)) throw new HttpError('invalid_content_length')
    if (length !== undefined && length !== Number(digits)) throw new HttpError('ambiguous_length')
    length = Number(digits)
  }
  return length!
}

function checkCoding(coding: string, length: number | undefined, isOld: boolean): void {
  if (length !== undefined) throw new HttpError('ambiguous_length')
  if (isOld) throw new AnswerError('answered in HTTP/1.0 with a transfer coding')
  // In RFC 2616, `identity` means no coding.
  if (coding !== 'chunked' && coding !== 'identity')
    throw new AnswerError('answered with a transfer coding other than chunked')
}

function keptMsOf(value: string): number | undefined {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
