// The errors in an HTTP message: a stable code for each, and the visitor's status.

/** The codes with status 400. */
type BadRequestCode =
  | 'invalid_request_line'
  | 'invalid_line_end'
  | 'invalid_field'
  | 'invalid_host'
  | 'invalid_target'
  | 'invalid_content_length'
  | 'invalid_transfer_encoding'
  | 'ambiguous_length'
  | 'invalid_chunk'
  | 'incomplete_message'

/** Maps each other code to its status. */
const STATUS = {
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

export type HttpErrorCode = BadRequestCode | keyof typeof STATUS

/** The error codes of HTTP/2 and WebSockets. Their modules are loaded later and have the status and text. */
type LateErrorCode = 'invalid_handshake' | 'protocol_not_offered' | 'upgrade_declined'

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
  constructor(code: LateErrorCode, text: string, status?: number)
  /** By default the visitor gets the words of the code, and so learns only which rule it broke. */
  constructor(
    code: HttpErrorCode | LateErrorCode,
    text: string = code.replaceAll('_', ' '),
    status: number = STATUS[code as keyof typeof STATUS] ?? 400,
  ) {
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
