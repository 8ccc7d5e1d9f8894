// The interface of a facilitator: it says what it takes, checks a payment, and carries it out once.

import type {
  PaymentRequest,
  PreparedPayment,
  PrepareRequest,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from './messages.ts'

/** A Facilitator is in the process, or at a URL. Each method rejects when it cannot say; a payment that is wrong is an answer. */
export interface Facilitator {
  supported(): Promise<SupportedResponse>
  verify(request: PaymentRequest): Promise<VerifyResponse>
  /**
   * Carries a payment out. The same payment for the same `resource.url` again gets the same answer, and is not carried
   * out twice; for another resource it is refused. So a site sends its own resource, and not the visitor's word for it.
   */
  settle(request: PaymentRequest): Promise<SettleResponse>
  /** Ours, not of x402: a visitor's page needs no library of the chain. */
  prepare(request: PrepareRequest): Promise<PreparedPayment>
}
