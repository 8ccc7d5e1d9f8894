// The public names of the package.

export type { Facilitator } from './facilitator.ts'
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
