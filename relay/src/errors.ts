// The relay's one error that a client gets to see: a code of the specification and a sentence.

import { ERROR_STATUS, type ErrorCode } from '@svc/protocol'

export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly code: ErrorCode
  /** HTTP headers that belong to the answer, such as `Allow`. */
  readonly headers: Record<string, string>
  readonly status: number

  /** @param status HTTP status, where an endpoint sends the code with another one than the usual */
  constructor(
    code: ErrorCode,
    message: string,
    headers: Record<string, string> = {},
    status: number = ERROR_STATUS[code],
  ) {
    super(message)
    this.code = code
    this.headers = headers
    this.status = status
  }
}
