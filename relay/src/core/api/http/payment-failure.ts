// Failures of the payment endpoints, in the facilitator's format: x402 has no envelope.

import { PATH } from '@svc/protocol'
import { RelayError } from '../../errors.ts'

/** Returns whether a path belongs to the facilitator, whose failures have this format. */
export function isPaymentPath(path: string): boolean {
  return path.startsWith(`${PATH.x402}/`)
}

/** x402's words for failures that are not about the payment itself. */
const REASONS: Partial<Record<RelayError['code'], string>> = {
  invalid_json: 'invalid_payload',
  invalid_request: 'invalid_payload',
  rate_limited: 'rate_limited',
  method_not_allowed: 'method_not_allowed',
}

/** A failure of the facilitator's endpoint at `path`. */
export function paymentFailure(path: string, error: RelayError): Record<string, unknown> {
  const reason = error instanceof PaymentRefusal ? error.reason : REASONS[error.code]
  const { message } = error
  if (path === PATH.x402Verify)
    return { isValid: false, invalidReason: reason ?? 'unexpected_verify_error', invalidMessage: message }
  const errorReason = reason ?? 'unexpected_settle_error'
  if (path === PATH.x402Settle)
    return { success: false, errorReason, errorMessage: message, transaction: '', network: '' }
  return { errorReason, errorMessage: message }
}

/** PaymentRefusal is a RelayError with x402's word for the reason. */
export class PaymentRefusal extends RelayError {
  readonly reason: string

  constructor(message: string, reason: string) {
    super('invalid_request', message)
    this.reason = reason
  }
}
