// The responses of paid routes themselves, and the fields that let pages of any origin pay.

import type { PaidResource, PaymentRequired, SettleResponse } from '@svc/payment/client'
import { encodeMessage } from '../../payer/message.ts'
import { withHeaders } from '../response-headers.ts'
import { checkoutPage } from './checkout-page.ts'
import type { Price } from './price-list.ts'

/** The fields of payments that a page of another origin may read. */
const EXPOSED = 'PAYMENT-REQUIRED, X-PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE'
/** The fields of a request on which its response depends. */
const VARY = 'PAYMENT-SIGNATURE, X-PAYMENT'
const VERSION = 2
/** Seconds for which a browser may keep the answer to a preflight request. */
const PREFLIGHT_S = 600

/** An Offer is one request that has a price, and the form of the answer to its payer. */
export interface Offer {
  readonly request: Request
  readonly price: Price
  readonly resource: PaidResource
}

/** The error codes of paid routes themselves; those of the facilitator are passed on. */
export type Refusal =
  | 'payment_required'
  | 'invalid_payload'
  | 'payment_in_use'
  | 'payment_already_used'
  | 'payment_for_another_resource'
  | 'settlement_failed'
  | `requirements_mismatch: ${string}`

/** Answers 402 with the requirements, as JSON, or as a page for a browser that navigates. */
export function paymentRequired(
  { request, price, resource }: Offer,
  error: Refusal | (string & {}),
  settlement?: SettleResponse,
): Response {
  const message: PaymentRequired = { x402Version: VERSION, error, resource, accepts: [price.requirements] }
  const encoded = encodeMessage(message)
  const isPage = wantsPage(request)
  const headers = new Headers({
    ...OPEN,
    'Cache-Control': 'no-store',
    'Content-Type': isPage ? 'text/html; charset=utf-8' : 'application/json',
    'PAYMENT-REQUIRED': encoded,
    'X-PAYMENT-REQUIRED': encoded,
    Vary: `${VARY}, Accept`,
    ...(isPage && { 'Content-Security-Policy': "frame-ancestors 'none'" }),
  })
  if (settlement) setSettlement(headers, settlement)
  const body = isPage ? checkoutPage(price) : `${JSON.stringify(message)}\n`
  // A malformed payment differs from an insufficient one.
  const status = error === 'invalid_payload' ? 400 : 402
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

/** Answers a request that failed for another reason; as far as is known, nobody was charged. */
export function unavailable(error: string, message: string, retryAfterS: number): Response {
  const headers = { ...OPEN, 'Cache-Control': 'no-store', 'Retry-After': String(retryAfterS) }
  return Response.json({ error, message }, { status: 503, headers })
}

/** Answers an invalid request. */
export function refused(status: number, error: string, message: string, headers: object = {}): Response {
  return Response.json(
    { error, message },
    { status, headers: { ...OPEN, 'Cache-Control': 'no-store', ...headers } },
  )
}

/** CORS fields for pages of every origin: only payments count here, no cookies or other credentials. */
export const OPEN: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'X-Content-Type-Options': 'nosniff',
}

/** @returns whether the request is a CORS preflight (Fetch standard, "CORS-preflight") */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
}

export function allowPreflight({ headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...OPEN,
      'Access-Control-Allow-Methods': headers.get('access-control-request-method') ?? '',
      'Access-Control-Allow-Headers': headers.get('access-control-request-headers') ?? '',
      'Access-Control-Max-Age': String(PREFLIGHT_S),
      Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
    },
  })
}

/**
 * Adds the fields for the payer and for caches to a response of the handler.
 * @returns `response` itself: a copy would lose a WebSocket
 */
export function withReceipt(response: Response, settlement: SettleResponse | undefined): Response {
  const headers = new Headers(response.headers)
  for (const name of ['payment-required', 'x-payment-required', 'payment-response', 'x-payment-response'])
    headers.delete(name)
  if (settlement) setSettlement(headers, settlement)
  headers.append('Vary', VARY)
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'private')
  if (!headers.has('access-control-allow-origin')) headers.set('Access-Control-Allow-Origin', '*')
  headers.append('Access-Control-Expose-Headers', EXPOSED)
  return withHeaders(response, headers)
}

function setSettlement(headers: Headers, settlement: SettleResponse): void {
  const encoded = encodeMessage(settlement)
  headers.set('PAYMENT-RESPONSE', encoded)
  headers.set('X-PAYMENT-RESPONSE', encoded)
}

/** A script asks for JSON or for anything; a browser that navigates names HTML. */
function wantsPage({ method, headers }: Request): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.get('accept') ?? '')
}
