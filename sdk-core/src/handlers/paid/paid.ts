// Paid routes: a visitor pays for a response by x402, with a stablecoin, and gets it once the payment is settled.

import type { Facilitator } from '@svc/payment/client'
import { DIRECT, type DirectlyHandled } from '../../exchange/direct.ts'
import type { FetchHandler, FetchInfo } from '../../exchange/fetch-handler.ts'
import { isGrpc } from '../../semantics/grpc.ts'
import { grpcRefusal } from '../grpc-refusal.ts'
import { CLIENT_SCRIPT } from './client-script.ts'
import { facilitatorOf } from './facilitator-source.ts'
import { type PaidOptions, parsePrices } from './options.ts'
import { readPayment } from './payment-header.ts'
import { prepare, resourceOf } from './prepare.ts'
import type { Asked, Price, PriceList } from './price-list.ts'
import {
  allowPreflight,
  isPreflight,
  type Offer,
  OPEN,
  paymentRequired,
  refused,
  unavailable,
} from './responses.ts'
import { sell } from './sale.ts'
import { withoutOverride } from './substitutes.ts'
import { UsedPayments } from './used-payments.ts'

/** The module with `x402Fetch`, for pages. */
const CLIENT_PATH = '/x402/client.js'
const PREPARE_PATH = '/x402/prepare'
const RETRY_S = 5
const UNPAYABLE = 'This call has a price, and gRPC cannot pay'

/** A payment buys one response, from any handler of the process. */
const used: UsedPayments = new UsedPayments()

/**
 * Returns a handler that requires a payment (x402 version 2) before it passes a request to one of `routes` to `handler`.
 * It answers 402 to a request that is not paid. A payment is verified before `handler` runs, and settled before any of its
 * response is sent; nobody pays for an error (status 400 or above). It answers `/x402/client.js` and `/x402/prepare` itself.
 * @throws SvcError `invalid_option` that names the option
 */
export function paid(handler: FetchHandler, options: PaidOptions): FetchHandler {
  const site = new PaidSite(handler, parsePrices(options), facilitatorOf(options))
  const answer: DirectlyHandled = (request, info) => site.answer(request, info)
  const direct = (handler as DirectlyHandled)[DIRECT]
  // A free request takes the handler's direct path, if it has one, under the path whose price was looked up.
  if (direct)
    answer[DIRECT] = (request) =>
      site.isFree(request) ? direct({ ...request, target: undefined }) : undefined
  return answer
}

class PaidSite {
  readonly #handler: FetchHandler
  readonly #prices: PriceList
  readonly #facilitatorOf: (canonicalUrl: string) => Promise<Facilitator>

  constructor(
    handler: FetchHandler,
    prices: PriceList,
    facilitatorOf: (canonicalUrl: string) => Promise<Facilitator>,
  ) {
    this.#handler = handler
    this.#prices = prices
    this.#facilitatorOf = facilitatorOf
  }

  /** Returns whether a request has no price, whatever its content is. */
  isFree(request: Parameters<NonNullable<DirectlyHandled[typeof DIRECT]>>[0]): boolean {
    if (request.url.pathname.startsWith('/x402/') || request.method === 'OPTIONS') return false
    return request.body === undefined
      ? this.#prices.find(request) === 'free'
      : this.#prices.findDearest(request) === 'free'
  }

  async answer(request: Request, info: FetchInfo): Promise<Response> {
    const url = new URL(request.url)
    if (url.pathname === CLIENT_PATH) return clientScript(request)
    if (url.pathname === PREPARE_PATH) return this.#prepare(request, info)
    const asked: Asked = { method: request.method, url, fields: request.headers }
    const dearest = this.#prices.findDearest(asked)
    if (dearest === 'unclear') return refused(400, 'invalid_path', 'The path may mean too many things')
    if (dearest === 'free') return this.#handler(request, info, info)
    // Answers the preflight itself: a page of another origin may pay, and the handler must not see this request as another one.
    if (isPreflight(request)) return allowPreflight(request)
    // A response for which somebody pays has no trailers, with which a call ends.
    if (isGrpc([...request.headers])) return grpcRefusal('unimplemented', UNPAYABLE)
    const found = this.#prices.find(asked)
    const judged = found === dearest ? request : await this.#judged(request, dearest)
    if (judged && found === 'free') return this.#handler(judged, info, info)
    const price = judged && typeof found !== 'string' ? found : dearest
    const resource = resourceOf(url, price.description)
    return this.#offer({ request: judged ?? request, price, resource }, info)
  }

  /** @returns the request with its content read; undefined when its content may select what costs `dearest`, or its payer pays exactly that */
  async #judged(request: Request, dearest: Price): Promise<Request | undefined> {
    const payment = readPayment(request.headers)
    const offered = typeof payment === 'string' ? undefined : payment.payload.accepted.amount
    return offered === dearest.requirements.amount ? undefined : withoutOverride(request)
  }

  async #offer(offer: Offer, info: FetchInfo): Promise<Response> {
    const { request } = offer
    const payment = readPayment(request.headers)
    if (payment === 'none') return paymentRequired(offer, 'payment_required')
    if (payment === 'malformed') return paymentRequired(offer, 'invalid_payload')
    let facilitator: Facilitator
    try {
      facilitator = await this.#facilitatorOf(info.canonicalUrl)
    } catch (error) {
      report(error, info)
      return unavailable(
        'facilitator_unavailable',
        'This site cannot take payments now; nothing was charged',
        RETRY_S,
      )
    }
    return sell(offer, payment, {
      facilitator,
      used,
      serve: async () => this.#handler(request, info, info),
      report: (error) => report(error, info),
    })
  }

  #prepare(request: Request, info: FetchInfo): Response | Promise<Response> {
    if (isPreflight(request)) return allowPreflight(request)
    return prepare(request, {
      facilitator: () => this.#facilitatorOf(info.canonicalUrl),
      priceOf: (url, method) => {
        const found = this.#prices.find({ method, url, fields: [] })
        return typeof found === 'string' ? undefined : found
      },
      report: (error) => report(error, info),
    })
  }
}

function clientScript(request: Request): Response {
  if (isPreflight(request)) return allowPreflight(request)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refused(405, 'method_not_allowed', 'The module is read with GET', { Allow: 'GET, HEAD' })
  const headers = { ...OPEN, 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' }
  return new Response(request.method === 'HEAD' ? null : CLIENT_SCRIPT, { headers })
}

/** Reports the error as one of the site's handler. */
function report(error: unknown, { waitUntil }: FetchInfo): void {
  waitUntil(Promise.reject(error))
}
