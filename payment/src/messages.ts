// The messages of x402 version 2 between a site, a visitor's wallet and a facilitator, as in the public interface.

/** The price of one request, as a site states it. Source: x402 version 2, `PaymentRequirements`. */
export interface PaymentRequirements {
  /** `exact`: exactly this amount is paid. */
  scheme: string
  /** CAIP-2 form of the chain, such as `sui:mainnet`. */
  network: string
  /** Whole number of the asset's smallest units, as decimal digits. */
  amount: string
  /** Type of the coin on the chain. */
  asset: string
  /** Address of the recipient. */
  payTo: string
  /** Seconds within which a payment settles. */
  maxTimeoutSeconds: number
  extra: Record<string, unknown>
}

/** The thing that is sold. */
export interface PaidResource {
  url: string
  description?: string
  mimeType?: string
}

/** The answer to an unpaid request. Source: x402 version 2, `PaymentRequired`. */
export interface PaymentRequired {
  x402Version: number
  error?: string
  resource: PaidResource
  accepts: PaymentRequirements[]
}

/** The message with which a visitor pays. Source: x402 version 2, `PaymentPayload`. */
export interface PaymentPayload {
  x402Version: number
  resource?: PaidResource
  /** The requirements that the visitor chose. */
  accepted: PaymentRequirements
  /** The scheme's and chain's own data. */
  payload: Record<string, unknown>
}

/** The request of a site to a facilitator. */
export interface PaymentRequest {
  x402Version: number
  paymentPayload: PaymentPayload
  paymentRequirements: PaymentRequirements
}

/** The answer to whether a payment would succeed. `invalidReason` is an error code of x402. */
export interface VerifyResponse {
  isValid: boolean
  invalidReason?: string
  invalidMessage?: string
  /** Address of the sender. */
  payer?: string
}

/** The answer to a settlement. */
export interface SettleResponse {
  success: boolean
  errorReason?: string
  errorMessage?: string
  payer?: string
  /** Digest of the transaction on the chain; empty without one. */
  transaction: string
  network: string
}

/** One supported kind of payment. */
export interface SupportedKind {
  x402Version: number
  scheme: string
  network: string
  extra?: Record<string, unknown>
}

/** The supported kinds of payments. */
export interface SupportedResponse {
  kinds: SupportedKind[]
  extensions: string[]
  /** Addresses that sign for the facilitator, by network: none, because it signs nothing. */
  signers: Record<string, string[]>
}

/** Requests a transaction with which `sender` pays `paymentRequirements`. */
export interface PrepareRequest {
  sender: string
  paymentRequirements: PaymentRequirements
}

/** Transactions to sign, each in Base64 of its BCS form. */
export interface PreparedPayment {
  /** Moves coins of the sender to its address balance, if that balance is too small; must be executed first. */
  prepareTransaction?: { transaction: string }
  paymentTransaction: { transaction: string }
}
