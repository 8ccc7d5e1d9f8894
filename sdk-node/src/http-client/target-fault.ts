// Messages about a target's invalid answer: for the visitor without the target's address, for the site with it.

import { SvcError } from '@svc/sdk-core'
import { HttpError } from '@svc/sdk-core/http1'

/** The most characters of a request's path in a message about a target's error, which is a line in a terminal. */
const FAULT_PATH_MAX = 200

/** The message for each error code. */
const FAULTS: Partial<Record<HttpError['code'], string>> = {
  ambiguous_length: 'answered with two different lengths',
  head_too_large: 'answered with a header section that is too large',
  incomplete_message: 'ended the connection during its answer',
  invalid_chunk: 'answered with a malformed chunk',
  invalid_content_length: 'answered with an invalid Content-Length',
  invalid_field: 'answered with a malformed header field',
  invalid_line_end: 'answered with a line that does not end with CRLF',
  invalid_request_line: 'did not answer with HTTP/1.1',
  trailers_too_large: 'answered with a trailer section that is too large',
}

/** An AnswerError says what is wrong with an answer, as the end of a sentence that begins with the server's name. */
export class AnswerError extends Error {}

/** The request that a fault belongs to. */
export interface FaultPlace {
  host: string
  port: number
  method: string
  /** The path without its query, which may contain secrets of the visitor. */
  path: string
}

/** A TargetFault is a target's invalid answer to one request. The visitor gets 502. */
export class TargetFault extends SvcError {
  /** The text for the visitor, without the target's address. */
  readonly visitorText: string

  constructor({ host, port, method, path }: FaultPlace, cause: unknown, isUnheard: boolean) {
    const what = `${wordsOf(cause, isUnheard)} (${method} ${path.slice(0, FAULT_PATH_MAX)})`
    super('target_unreachable', `${host}:${port} ${what}`, { cause })
    this.visitorText = `The server behind this site ${what}`
  }
}

function wordsOf(cause: unknown, isUnheard: boolean): string {
  if (cause instanceof AnswerError) return cause.message
  const isEnd = !(cause instanceof HttpError) || cause.code === 'incomplete_message'
  if (isEnd && isUnheard) return 'ended the connection without an answer'
  return FAULTS[cause instanceof HttpError ? cause.code : 'incomplete_message'] ?? 'answered with a fault'
}
