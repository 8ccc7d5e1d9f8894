// The errors in a message: a stable code for each, and the status that the visitor gets.

/** Maps each code to its status and text. The texts go to the visitor, so they never repeat what it sent. */
const ERRORS = {
  invalid_request_line: [400, 'The request line is malformed'],
  invalid_line_end: [400, 'A line does not end with CRLF'],
  invalid_field: [400, 'A field line is malformed'],
  invalid_host: [400, 'The request has to name exactly one valid host'],
  invalid_target: [400, 'The request target is malformed'],
  invalid_content_length: [400, 'Content-Length is malformed or repeated'],
  invalid_transfer_encoding: [400, 'Transfer-Encoding does not end in a single chunked'],
  ambiguous_length: [400, 'Content-Length and Transfer-Encoding exclude each other'],
  invalid_chunk: [400, 'The chunked coding is malformed'],
  incomplete_message: [400, 'The connection ended inside a message'],
  head_timeout: [408, 'The head of the request did not come in time'],
  body_timeout: [408, 'The body of the request did not come in time'],
  content_too_large: [413, 'The body is larger than can be counted'],
  request_line_too_long: [414, 'The request line is too long'],
  expectation_failed: [417, 'Only 100-continue can be expected'],
  misdirected_request: [421, 'This host is not served here'],
  upgrade_required: [426, 'This is for WebSockets of version 13'],
  head_too_large: [431, 'The header section is too large'],
  trailers_too_large: [431, 'The trailer section is too large'],
  method_not_implemented: [501, 'The method is not implemented'],
  transfer_coding_not_implemented: [501, 'The transfer coding is not implemented'],
  version_not_supported: [505, 'Only HTTP/1.1 and HTTP/1.0 are spoken here'],
  content_length_mismatch: [500, 'The response body does not fit its Content-Length'],
  content_discarded: [500, 'The response ended before this request body was read'],
  visitor_stalled: [500, 'The visitor took no more bytes'],
} as const

export type HttpErrorCode = keyof typeof ERRORS

/** The codes of HTTP/2 and WebSockets alone. Their code is loaded later, and brings status and text along. */
type LateErrorCode = 'invalid_handshake' | 'protocol_not_offered' | 'upgrade_declined'

type Refusal = readonly [status: number, text: string]

/** An HttpError is an error in a message, with the status that refuses a request. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode | LateErrorCode
  /**
   * The status. It is 500 for an error that is not the visitor's, or that is found after the response began. That one
   * is not sent.
   */
  readonly status: number

  constructor(code: HttpErrorCode)
  constructor(code: LateErrorCode, refusal: Refusal)
  constructor(code: HttpErrorCode | LateErrorCode, [status, text]: Refusal = ERRORS[code as HttpErrorCode]) {
    super(text)
    this.code = code
    this.status = status
  }
}

/**
 * An UpgradeError says that a request cannot be upgraded. The SDK refuses the request, unless the handler catches the
 * error.
 */
export class UpgradeError extends HttpError {}
