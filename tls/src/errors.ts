// The engine's errors: what a peer did against the RFC, with the alert that answers it.

import { ALERT, type AlertName } from './messages/constants.ts'
import { TlsError } from './messages/errors.ts'

export { TlsError } from './messages/errors.ts'

/** A violation by the peer. The code is the alert's name. */
export function violation(alert: AlertName, message: string, cause?: unknown): TlsError {
  return new TlsError(alert, message, { alert: ALERT[alert], ...(cause === undefined ? {} : { cause }) })
}

/** Anything thrown as a TlsError; what we did not foresee is an internal_error. */
export function asTlsError(error: unknown): TlsError {
  return error instanceof TlsError ? error : violation('internal_error', 'internal error', error)
}
