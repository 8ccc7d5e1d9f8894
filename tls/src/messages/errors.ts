// The base class of the package's errors, and the error of a message that does not decode.

import { ALERT, type AlertName } from './constants.ts'

/**
 * Every error of this package is a TlsError. `code` is stable. `alert` is the description that was sent or received.
 */
export class TlsError extends Error {
  override readonly name: string = 'TlsError'
  readonly code: string
  readonly alert: number | undefined

  constructor(code: string, message: string, options: { alert?: number; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.alert = options.alert
  }
}

/**
 * A DecodeError says that bytes of the peer are malformed. Its code is the alert's name unless a more specific one is given.
 */
export class DecodeError extends TlsError {
  override readonly name: string = 'DecodeError'
  declare readonly alert: number

  constructor(alert: AlertName, message: string, code: string = alert) {
    super(code, message, { alert: ALERT[alert] })
  }
}
