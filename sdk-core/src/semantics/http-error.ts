// The errors in an HTTP message: a stable code for each, and the visitor's status.

/** Maps each code to its status. The visitor gets the words of the code, and so learns only which rule it broke. */
const STATUS = {
  invalid_request_line: 400,
  invalid_line_end: 400,
  invalid_field: 400,
  invalid_host: 400,
  invalid_target: 400,
  invalid_content_length: 400,
  invalid_transfer_encoding: 400,
  ambiguous_length: 400,
  invalid_chunk: 400,
  incomplete_message: 400,
  head_timeout: 408,
  body_timeout: 408,
  content_too_large: 413,
  request_line_too_long: 414,
  expectation_failed: 417,
  misdirected_request: 421,
  upgrade_required: 426,
  head_too_large: 431,
  trailers_too_large: 431,
  method_not_implemented: 501,
  transfer_coding_not_implemented: 501,
  version_not_supported: 505,
  content_length_mismatch: 500,
  content_discarded: 500,
  visitor_stalled: 500,
} as const

export type HttpErrorCode = keyof typeof STATUS

/** The error codes of HTTP/2 and WebSockets. Their modules are loaded later and have the status and text. */
type LateErrorCode = 'invalid_handshake' | 'protocol_not_offered' | 'upgrade_declined'

type Refusal = readonly [status: number, text: string]

function refusalOf(code: string): Refusal {
  return [STATUS[code as HttpErrorCode], code.replaceAll('_', ' ')]
}

/** An HttpError is an error in a message, with the status that refuses a request. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode | LateErrorCode
  /**
   * The status. It is 500 for an error that is not the visitor's, or that is found after the response began; then it
   * is not sent.
   */
  readonly status: number

  constructor(code: HttpErrorCode)
  constructor(code: LateErrorCode, refusal: Refusal)
  constructor(code: HttpErrorCode | LateErrorCode, [status, text]: Refusal = refusalOf(code)) {
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
