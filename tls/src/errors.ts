// The engine's errors: violations of an RFC by the peer, with the alert that answers each.

import { ALERT, type AlertName } from './messages/constants.ts'
import { TlsError } from './messages/errors.ts'

export { TlsError } from './messages/errors.ts'

/** Makes the error for a violation by the peer. Its code is the alert's name. */
export function violation(alert: AlertName, message: string, cause?: unknown): TlsError {
  return new TlsError(alert, message, { alert: ALERT[alert], ...(cause === undefined ? {} : { cause }) })
}

/** Converts anything thrown to a TlsError. An unexpected error becomes an internal_error. */
export function asTlsError(error: unknown): TlsError {
  return error instanceof TlsError ? error : violation('internal_error', 'internal error', error)
}
