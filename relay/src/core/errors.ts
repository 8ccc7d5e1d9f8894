// The error that the relay sends to clients: a code of the protocol and a sentence.

import { ERROR_STATUS, type ErrorCode } from '@svc/protocol'

/**
 * `Retry-After`, in seconds, of a request that needs state shared by several machines, while this one cannot reach it.
 */
export const SHARED_STATE_RETRY_S = 2

export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly code: ErrorCode
  /** HTTP headers that belong to the response, such as `Allow`. */
  readonly headers: Record<string, string>
  readonly status: number

  /** @param status HTTP status; the code's usual one by default */
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

/** A RelayError whose response is its message as plain text, without the envelope. */
export class PlainError extends RelayError {}
