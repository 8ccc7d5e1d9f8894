// The errors of this package, each with a stable code.

/**
 * - `invalid_settings`: an option of the caller is wrong, such as an invalid address.
 * - `library_missing`: a library that this package needs for a facilitator in the process is not installed.
 * - `invalid_request`: a request is invalid; `reason` is an error code of x402.
 * - `busy`: too many payments are in flight; nothing was done.
 * - `journal_failed`: the journal could not store a payment; no money moved because of this call.
 * - `nodes_unavailable`: no full node of the chain answered; no money moved because of this call.
 * - `unsettled`: it is unknown whether the payment was settled. Retry with the same payment, which is never settled twice.
 * - `facilitator_unavailable`: the facilitator at the URL cannot be reached, or did not answer in time.
 * - `facilitator_failed`: the facilitator at the URL sent an invalid answer.
 * - `prepare_unsupported`: the facilitator at the URL prepares no payments.
 */
export type PaymentErrorCode =
  | 'invalid_settings'
  | 'library_missing'
  | 'invalid_request'
  | 'busy'
  | 'journal_failed'
  | 'nodes_unavailable'
  | 'unsettled'
  | 'facilitator_unavailable'
  | 'facilitator_failed'
  | 'prepare_unsupported'

interface PaymentErrorOptions {
  cause?: unknown
  reason?: string
}

/** PaymentError is the error of a facilitator's methods. */
export class PaymentError extends Error {
  override readonly name = 'PaymentError'
  readonly code: PaymentErrorCode
  /** The error code of x402, such as `insufficient_funds`, if it has one. */
  readonly reason: string | undefined

  constructor(code: PaymentErrorCode, message: string, { cause, reason }: PaymentErrorOptions = {}) {
    super(message, { cause })
    this.code = code
    this.reason = reason
  }
}
