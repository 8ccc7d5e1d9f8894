// The relay's one error that a client gets to see: a code of the specification and a sentence.

import { ERROR_STATUS, type ErrorCode } from '@svc/protocol'

export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly code: ErrorCode
  /** HTTP headers that belong to the answer, such as `Allow`. */
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}
