// The interface of a facilitator: it lists the supported kinds, verifies payments, and settles each once.

import type {
  PaymentRequest,
  PreparedPayment,
  PrepareRequest,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from './messages.ts'

/** A Facilitator runs in this process or at a URL. Methods reject when the facilitator fails; an invalid payment is an answer. */
export interface Facilitator {
  supported(): Promise<SupportedResponse>
  verify(request: PaymentRequest): Promise<VerifyResponse>
  /**
   * Settles a payment. Repeating it for the same `resource.url` gets the same answer, and does not settle
   * twice; for another resource it is refused. So a site must send its own resource, not the visitor's claim.
   */
  settle(request: PaymentRequest): Promise<SettleResponse>
  /** An addition to x402, with which a visitor's page needs no blockchain library. */
  prepare(request: PrepareRequest): Promise<PreparedPayment>
}
