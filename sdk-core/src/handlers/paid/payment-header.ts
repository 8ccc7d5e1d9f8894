// Reads the payment in the fields of a request, in `PAYMENT-SIGNATURE` or `X-PAYMENT`.

import type { PaymentPayload, PaymentRequirements } from '@svc/payment/client'
import { fromBase64 } from '../../bytes/base64.ts'
import { decodeMessage } from '../../payer/message.ts'
import { PAYMENT_MAX_CHARS } from './limits.ts'

/** A Payment is a well-formed payment that a visitor sent. It is not verified. */
export interface Payment {
  readonly payload: PaymentPayload
  /** The bytes of the transaction that pays. */
  readonly transaction: Uint8Array<ArrayBuffer>
}

/** `none`: the request has no payment. `malformed`: the field does not contain one. */
export type ReadPayment = Payment | 'none' | 'malformed'

const FIELDS = ['payment-signature', 'x-payment']
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/
const VERSION = 2

export function readPayment(headers: Headers): ReadPayment {
  const text = FIELDS.map((name) => headers.get(name)).find((value) => value !== null)
  if (text === undefined || text === null) return 'none'
  const payload = text.length <= PAYMENT_MAX_CHARS ? decodeMessage(text) : undefined
  if (!isPayload(payload)) return 'malformed'
  const { transaction: encoded } = payload.payload
  const transaction = typeof encoded === 'string' && BASE64.test(encoded) ? fromBase64(encoded) : undefined
  return transaction === undefined ? 'malformed' : { payload, transaction }
}

function isPayload(value: unknown): value is PaymentPayload {
  return (
    isObject(value) &&
    value.x402Version === VERSION &&
    isObject(value.accepted) &&
    isObject(value.payload) &&
    (value.resource === undefined || (isObject(value.resource) && typeof value.resource.url === 'string'))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The requirements that the payer must return unchanged; clients differ in how much of `extra` they return. */
const BINDING = ['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds'] as const

/** @returns the name of the first requirement that the payer changed */
export function disagreement(
  accepted: PaymentRequirements,
  required: PaymentRequirements,
): (typeof BINDING)[number] | undefined {
  return BINDING.find((name) => accepted[name] !== required[name])
}
