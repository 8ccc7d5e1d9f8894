// One sale: the payment is verified, the request handled, the payment settled, and only then the response released.

import {
  type Facilitator,
  PaymentError,
  type PaymentErrorCode,
  type PaymentRequest,
  type SettleResponse,
} from '@svc/payment/client'
import { withTimeout } from '@svc/protocol/timers'
import { toBase64 } from '../../bytes/base64.ts'
import { SvcError } from '../../errors.ts'
import { begun } from './first-bytes.ts'
import { SETTLE_ATTEMPTS, SETTLE_DEADLINE_MS, VERIFY_DEADLINE_MS } from './limits.ts'
import { disagreement, type Payment } from './payment-header.ts'
import { type Offer, paymentRequired, unavailable, withReceipt } from './responses.ts'
import { Claim, type Refused, type UsedPayments } from './used-payments.ts'

/** What a sale needs of its site. */
export interface Seller {
  readonly facilitator: Facilitator
  readonly used: UsedPayments
  /** Makes the response that is sold. */
  serve(): Promise<Response>
  /** Tells the site of an error that is not the payer's. */
  report(error: unknown): void
}

/** The errors after which no money moved because of the call. All other errors leave that open. */
const NOTHING_MOVED: ReadonlySet<PaymentErrorCode> = new Set([
  'busy',
  'invalid_request',
  'invalid_settings',
  'journal_failed',
  'library_missing',
  'nodes_unavailable',
])
/** A response with this status or above is an error: it is not sold, and the payer keeps the money. */
const ERRORS = 400
/** The Retry-After for a payer, in seconds. */
const RETRY_S = 5

/** @returns the response, which has nothing of what is sold unless it is paid */
export async function sell(offer: Offer, payment: Payment, seller: Seller): Promise<Response> {
  const { price, resource } = offer
  const mismatch = disagreement(payment.payload.accepted, price.requirements)
  if (mismatch !== undefined) return paymentRequired(offer, `requirements_mismatch: ${mismatch}`)
  const named = payment.payload.resource?.url
  if (named !== undefined && named !== resource.url)
    return paymentRequired(offer, 'payment_for_another_resource')
  const claim = seller.used.claim(await keyOf(payment), resource.url)
  if (!(claim instanceof Claim)) return refusal(offer, claim)
  try {
    return await new Sale(offer, payment, seller, claim).run()
  } finally {
    // A payment that was not settled is free again, even if the handler threw.
    claim.end()
  }
}

class Sale {
  readonly #offer: Offer
  readonly #seller: Seller
  readonly #claim: Claim
  readonly #request: PaymentRequest

  constructor(offer: Offer, { payload }: Payment, seller: Seller, claim: Claim) {
    this.#offer = offer
    this.#seller = seller
    this.#claim = claim
    // Uses our own requirements, since the payer may have changed unbinding parts.
    const { requirements } = offer.price
    const paymentPayload = { ...payload, accepted: requirements, resource: offer.resource }
    this.#request = { x402Version: payload.x402Version, paymentPayload, paymentRequirements: requirements }
  }

  async run(): Promise<Response> {
    const refused = this.#claim.isOwed ? undefined : await this.#verify()
    if (refused) return refused
    if (this.#claim.isOwed && this.#claim.settlement === undefined) {
      const failed = await this.#settle()
      if (failed) return failed
    }
    const response = await begun(await this.#seller.serve())
    const { signal } = this.#offer.request
    if (signal.aborted) {
      // A visitor who left pays nothing and gets nothing. One who only half-closed still reads.
      discard(response)
      throw signal.reason
    }
    if (response.status >= ERRORS) return withReceipt(response, undefined)
    if (this.#claim.settlement === undefined) {
      const failed = await this.#settle()
      if (failed) {
        discard(response)
        return failed
      }
    }
    if (this.#claim.serve()) return withReceipt(response, this.#claim.settlement)
    discard(response)
    return paymentRequired(this.#offer, 'payment_already_used', this.#claim.settlement)
  }

  /** @returns the response to a payment that is invalid or could not be verified */
  async #verify(): Promise<Response | undefined> {
    try {
      const checked = this.#seller.facilitator.verify(this.#request)
      const { isValid, invalidReason } = await withTimeout(checked, VERIFY_DEADLINE_MS, tooSlow)
      return isValid === true ? undefined : paymentRequired(this.#offer, invalidReason ?? 'invalid_payment')
    } catch (error) {
      this.#seller.report(error)
      return unavailable(
        'facilitator_unavailable',
        'The payment could not be checked; nothing was charged',
        RETRY_S,
      )
    }
  }

  /** @returns the response to a payment that was not settled, or whose outcome is unknown */
  async #settle(): Promise<Response | undefined> {
    let settlement: SettleResponse
    try {
      settlement = await this.#settleOnce()
    } catch (error) {
      this.#seller.report(error)
      if (!this.#claim.isOwed && isUnmoved(error))
        return unavailable(
          'facilitator_unavailable',
          'The payment was not carried out; nothing was charged',
          RETRY_S,
        )
      this.#claim.owe(undefined)
      return unavailable(
        'settlement_unknown',
        'It is not known yet whether the payment was carried out. Send the same request with the same payment again: it is charged once at most',
        RETRY_S,
      )
    }
    if (settlement.success !== true) {
      this.#claim.release()
      return paymentRequired(this.#offer, settlement.errorReason ?? 'settlement_failed', settlement)
    }
    this.#claim.owe(settlement)
    return undefined
  }

  /** An attempt may be repeated: the same payment is never charged twice. */
  async #settleOnce(): Promise<SettleResponse> {
    for (let attempt = 1; ; attempt += 1)
      try {
        const settled = this.#seller.facilitator.settle(this.#request)
        return await withTimeout(settled, SETTLE_DEADLINE_MS, tooSlow)
      } catch (error) {
        if (attempt >= SETTLE_ATTEMPTS || isUnmoved(error)) throw error
      }
  }
}

function refusal(offer: Offer, refused: Refused): Response {
  if (refused.reason === 'busy') return paymentRequired(offer, 'payment_in_use')
  if (refused.reason === 'other_resource') return paymentRequired(offer, 'payment_for_another_resource')
  if (refused.reason === 'used') return paymentRequired(offer, 'payment_already_used', refused.settlement)
  return unavailable('busy', 'Too many payments are on their way; nothing was charged', RETRY_S)
}

/** Returns the hash of the bytes that the payer signed, which does not depend on the encoding of the payment. */
async function keyOf({ transaction }: Payment): Promise<string> {
  return toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', transaction)))
}

function isUnmoved(error: unknown): boolean {
  return error instanceof PaymentError && NOTHING_MOVED.has(error.code)
}

function tooSlow(): Error {
  return new SvcError('payments_unavailable', 'the facilitator of payments took too long')
}

function discard(response: Response): void {
  response.body?.cancel().catch(() => {}) // the rejection is the handler's own clean-up failing
}
