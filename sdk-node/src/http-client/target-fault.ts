// The fault in a target's answer, in words: for the visitor without the target's address, for the site with it.

import { SvcError } from '@svc/sdk-core'
import { HttpError } from '@svc/sdk-core/http1'
import { FAULT_PATH_MAX } from '../limits.ts'

/** What a target did, by the code of the part that found it. */
const FAULTS: Partial<Record<HttpError['code'], string>> = {
  ambiguous_length: 'answered with two different lengths',
  head_too_large: 'answered with a header section that is too large',
  incomplete_message: 'ended the connection within its answer',
  invalid_chunk: 'answered with a malformed chunk',
  invalid_content_length: 'answered with a Content-Length that is no length',
  invalid_field: 'answered with a malformed header field',
  invalid_line_end: 'answered with a line that does not end with CRLF',
  invalid_request_line: 'answered with what is not HTTP/1.1',
  trailers_too_large: 'answered with a trailer section that is too large',
}

/** An AnswerError says in words what is wrong with an answer; the words go on after the name of the server. */
export class AnswerError extends Error {}

/** What a fault is told of. */
export interface FaultPlace {
  host: string
  port: number
  method: string
  /** The path without its query, which may hold secrets of the visitor. */
  path: string
}

/** A TargetFault is a fault of the target in the answer to one request. The visitor gets 502. */
export class TargetFault extends SvcError {
  /** The text for the visitor, who does not learn where the target is. */
  readonly visitorText: string

  constructor({ host, port, method, path }: FaultPlace, cause: unknown, isUnheard: boolean) {
    const what = `${wordsOf(cause, isUnheard)} (${method} ${path.slice(0, FAULT_PATH_MAX)})`
    super('target_unreachable', `${host}:${port} ${what}`, { cause })
    this.visitorText = `The server behind this site ${what}\n`
  }
}

function wordsOf(cause: unknown, isUnheard: boolean): string {
  if (cause instanceof AnswerError) return cause.message
  const isEnd = !(cause instanceof HttpError) || cause.code === 'incomplete_message'
  if (isEnd && isUnheard) return 'ended the connection without an answer'
  return FAULTS[cause instanceof HttpError ? cause.code : 'incomplete_message'] ?? 'answered with a fault'
}
