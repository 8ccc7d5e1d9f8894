// @svc/payment/client: the exports that need no blockchain library, so that bundlers
// find no missing package.

export type { Facilitator } from './facilitator.ts'
export { facilitatorAt, type HttpFacilitatorOptions } from './http-facilitator.ts'
export { MAX_RESOURCE_LENGTH, MINIMUM_AMOUNT, PAYMENT_SECONDS } from './limits.ts'
export type {
  PaidResource,
  PaymentPayload,
  PaymentRequest,
  PaymentRequired,
  PaymentRequirements,
  PreparedPayment,
  PrepareRequest,
  SettleResponse,
  SupportedKind,
  SupportedResponse,
  VerifyResponse,
} from './messages.ts'
export {
  isPaymentAddress,
  NETWORKS,
  type NetworkFacts,
  type PaymentNetwork,
  USDC_DECIMALS,
  usdcRequirements,
  X402_VERSION,
} from './networks.ts'
export { PaymentError, type PaymentErrorCode } from './payment-error.ts'
export { isDeposit, isPayment } from './prepared.ts'
