// Parses a site's request, and checks that it is of the supported kind.

import {
  MAX_RESOURCE_LENGTH,
  MAX_SIGNATURE_LENGTH,
  MAX_TRANSACTION_LENGTH,
  MAXIMUM_AMOUNT,
  MINIMUM_AMOUNT,
  PAYMENT_SECONDS,
} from '../limits.ts'
import type { PaymentRequirements } from '../messages.ts'
import { ASSET_TRANSFER_METHOD, NETWORKS, type PaymentNetwork, SCHEME, X402_VERSION } from '../networks.ts'
import {
  fromBase64,
  normalizeStructTag,
  PaymentPayloadV2Schema,
  PaymentRequirementsV2Schema,
  toBase64,
} from './libraries.ts'
import { Refusal } from './refusal.ts'

/** Terms are the terms of a payment. */
export interface Terms {
  network: PaymentNetwork
  payTo: string
  /** Normalized type of the coin. */
  asset: string
  amount: bigint
  /** The deadline for settling, in milliseconds from when the payment was first seen. */
  withinMs: number
}

/** SignedPayment is a well-formed request, whose transaction is not parsed yet. */
export interface SignedPayment {
  terms: Terms
  transaction: Uint8Array<ArrayBuffer>
  /** Base64. */
  signature: string
  resource: string
}

interface Taken {
  network: PaymentNetwork
  payTo: string
}

/** At most 20 digits without a leading zero: a positive number of 64 bits or little more. */
const AMOUNT = /^[1-9][0-9]{0,19}$/

/** @throws Refusal */
export function readPaymentRequest(input: unknown, taken: Taken): SignedPayment {
  const body = fieldsOf(input)
  const payloadFields = fieldsOf(body.paymentPayload)
  for (const version of [body.x402Version ?? X402_VERSION, payloadFields.x402Version])
    if (version !== X402_VERSION)
      throw new Refusal('invalid_x402_version', `x402Version is ${X402_VERSION} here`)
  const terms = readRequirements(body.paymentRequirements, taken)
  const payload = PaymentPayloadV2Schema.safeParse(body.paymentPayload)
  if (!payload.success) throw new Refusal('invalid_payload', firstIssue('paymentPayload', payload.error))
  const { accepted, payload: signed, resource } = payload.data
  if (!isSame(readRequirements(accepted, taken), terms))
    throw new Refusal('invalid_payload', 'the payment accepts other requirements than those of the site')
  if (typeof signed.transaction !== 'string' || signed.transaction.length > MAX_TRANSACTION_LENGTH)
    throw new Refusal('invalid_payload', 'payload.transaction is not the Base64 of a payment')
  if (typeof signed.signature !== 'string' || signed.signature.length > MAX_SIGNATURE_LENGTH)
    throw new Refusal('invalid_payload', 'payload.signature is not the Base64 of a signature')
  if ((resource?.url.length ?? 0) > MAX_RESOURCE_LENGTH)
    throw new Refusal('invalid_payload', `resource.url has more than ${MAX_RESOURCE_LENGTH} characters`)
  return {
    terms,
    transaction: fromStrictBase64(signed.transaction),
    signature: signed.signature,
    resource: resource?.url ?? '',
  }
}

/** @throws Refusal */
export function readRequirements(input: unknown, taken: Taken): Terms {
  const parsed = PaymentRequirementsV2Schema.safeParse(input)
  if (!parsed.success)
    throw new Refusal('invalid_payment_requirements', firstIssue('paymentRequirements', parsed.error))
  const requirements = parsed.data as PaymentRequirements
  if (requirements.scheme !== SCHEME)
    throw new Refusal('unsupported_scheme', `the scheme is ${SCHEME} here, not ${requirements.scheme}`)
  if (requirements.network !== taken.network)
    throw new Refusal('invalid_network', `the network is ${taken.network} here, not ${requirements.network}`)
  if (!isGasless(requirements.extra))
    throw new Refusal(
      'invalid_payment_requirements',
      `extra.assetTransferMethod is ${ASSET_TRANSFER_METHOD} here`,
    )
  if (requirements.payTo.toLowerCase() !== taken.payTo)
    throw new Refusal(
      'invalid_exact_sui_payload_recipient_mismatch',
      `this facilitator takes payments to ${taken.payTo} alone`,
    )
  const asset = normalizeStructTag(NETWORKS[taken.network].usdc)
  if (normalizedType(requirements.asset) !== asset)
    throw new Refusal('invalid_exact_sui_payload_asset_mismatch', `the asset is ${asset} here`)
  return {
    network: taken.network,
    payTo: taken.payTo,
    asset,
    amount: readAmount(requirements.amount),
    withinMs: Math.min(Math.max(requirements.maxTimeoutSeconds, 1), PAYMENT_SECONDS) * 1_000,
  }
}

function readAmount(text: string): bigint {
  const amount = AMOUNT.test(text) ? BigInt(text) : 0n
  if (amount < MINIMUM_AMOUNT || amount > MAXIMUM_AMOUNT)
    throw new Refusal(
      'invalid_payment_requirements',
      `amount is a whole number of at least ${MINIMUM_AMOUNT}, as digits, in units of the asset`,
    )
  return amount
}

/** Clients of other facilitators omit the method or write it with underscores. Other methods are refused. */
function isGasless(extra: Record<string, unknown> | null | undefined): boolean {
  const method = extra?.assetTransferMethod ?? extra?.asset_transfer_method
  return method === undefined || method === ASSET_TRANSFER_METHOD
}

function normalizedType(text: string): string | undefined {
  try {
    return normalizeStructTag(text)
  } catch {
    return undefined
  }
}

function isSame(one: Terms, other: Terms): boolean {
  return one.amount === other.amount
}

/** @throws Refusal for text that is not exactly the Base64 of some bytes */
function fromStrictBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = fromBase64(text)
    if (toBase64(bytes) === text) return bytes
  } catch {}
  throw new Refusal('invalid_payload', 'payload.transaction is not the Base64 of a payment')
}

function fieldsOf(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
}

function firstIssue(
  name: string,
  { issues }: { issues: { path: (string | number)[]; message: string }[] },
): string {
  const issue = issues[0]
  return `${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'is wrong'}`
}
