// The refusal of a payment, with an error code of x402.

/**
 * The error codes. Those without `exact_sui` are x402's own (version 2, "Error codes"); the others name the scheme and the
 * chain, as x402 does for other chains.
 */
export type RefusalReason =
  | 'invalid_x402_version'
  | 'invalid_payload'
  | 'invalid_payment_requirements'
  | 'unsupported_scheme'
  | 'invalid_network'
  | 'invalid_transaction_state'
  | 'insufficient_funds'
  | 'invalid_exact_sui_payload_transaction'
  | 'invalid_exact_sui_payload_signature'
  | 'invalid_exact_sui_payload_recipient_mismatch'
  | 'invalid_exact_sui_payload_asset_mismatch'
  | 'invalid_exact_sui_payload_value_mismatch'
  | 'invalid_exact_sui_payload_expired'
  | 'invalid_exact_sui_payload_transaction_simulation_failed'

/** The longest message of a refusal, which may repeat input, in characters. */
const MAX_MESSAGE_LENGTH = 500

/** Refusal ends the check of a payment. The facilitator answers with it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string) {
    super(message.slice(0, MAX_MESSAGE_LENGTH))
    this.reason = reason
  }
}
