// The public names of the package.

export { createFacilitator, type FacilitatorOptions, loadFacilitator } from './create-facilitator.ts'
export type { Facilitator } from './facilitator.ts'
export { facilitatorAt, type HttpFacilitatorOptions } from './http-facilitator.ts'
export type { PaymentJournal, PaymentRecord } from './journal.ts'
export { KeptRecords } from './kept-records.ts'
export { MAX_RESOURCE_LENGTH, MINIMUM_AMOUNT, PAYMENT_SECONDS } from './limits.ts'
export { type JournalFile, openLogJournal } from './log-journal.ts'
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
