// The table of the facilitator's endpoints, which only a relay with payments has. Bodies are those of x402, version 2.

import { BODY_DEADLINE_MS, PATH, X402_BODY_MAX_BYTES } from '@svc/protocol'
import type { Endpoint, JsonBody } from '../../core/api/endpoints/endpoint.ts'
import { described, named, z } from '../../core/config/schema.ts'

export type PaymentEndpointName = 'x402Supported' | 'x402Verify' | 'x402Settle' | 'x402Prepare'

const JSON_MEDIA_TYPE = 'application/json'
const text = z.string()

/** The facilitator validates the body itself, so that its answer has x402's reason. */
const anything = z.record(text, z.unknown())
const request = named('X402PaymentRequest', described({ description: 'x402 version 2' }, anything))
const prepareRequest = named(
  'X402PrepareRequest',
  described({ description: '{sender, paymentRequirements}' }, anything),
)

const supported = named(
  'X402Supported',
  z.object({
    kinds: z.array(
      z.object({ x402Version: z.number(), scheme: text, network: text, extra: z.record(text, z.unknown()) }),
    ),
    extensions: z.array(text),
    signers: z.record(text, z.array(text)),
  }),
)
const verified = named(
  'X402VerifyResponse',
  z.object({
    isValid: z.boolean(),
    invalidReason: text.optional(),
    invalidMessage: text.optional(),
    payer: text.optional(),
  }),
)
const settled = named(
  'X402SettleResponse',
  z.object({
    success: z.boolean(),
    errorReason: text.optional(),
    errorMessage: text.optional(),
    payer: text.optional(),
    transaction: text,
    network: text,
  }),
)
const transaction = z.object({ transaction: text })
const prepared = named(
  'X402PreparedPayment',
  z.object({ prepareTransaction: transaction.optional(), paymentTransaction: transaction }),
)

export const PAYMENT_BODY: JsonBody<unknown> = {
  kind: 'json',
  schema: request,
  maxBytes: X402_BODY_MAX_BYTES,
  deadlineMs: BODY_DEADLINE_MS,
}

const OPEN = { auth: 'none', status: 200, bare: JSON_MEDIA_TYPE, errors: [] } as const
const FAILURES = [400, 429, 503] as const

export const PAYMENT_ENDPOINTS: Readonly<Record<PaymentEndpointName, Endpoint<unknown, unknown>>> = {
  x402Supported: {
    ...OPEN,
    method: 'GET',
    path: PATH.x402Supported,
    summary: 'The kinds of payments that the facilitator takes',
    data: supported,
  },
  x402Verify: {
    ...OPEN,
    method: 'POST',
    path: PATH.x402Verify,
    summary: 'Whether a payment is right, and would succeed',
    body: PAYMENT_BODY,
    data: verified,
    bareFailures: FAILURES,
  },
  x402Settle: {
    ...OPEN,
    method: 'POST',
    path: PATH.x402Settle,
    summary: 'Carry a payment out, once',
    body: PAYMENT_BODY,
    data: settled,
    bareFailures: FAILURES,
  },
  x402Prepare: {
    ...OPEN,
    method: 'POST',
    path: PATH.x402Prepare,
    summary: 'Make the transaction with which a sender would pay',
    body: { ...PAYMENT_BODY, schema: prepareRequest },
    data: prepared,
    bareFailures: FAILURES,
  },
}
