// Reads a site's price, if the payer accepts it: USDC on a known network, and not more than the limit.

import {
  isPaymentAddress,
  NETWORKS,
  type PaidResource,
  type PaymentNetwork,
  type PaymentRequirements,
  USDC_DECIMALS,
} from '@svc/payment/client'
import { SvcError } from '../errors.ts'
import { smallestUnits } from './amount.ts'
import { decodeMessage } from './message.ts'

/** Terms are what the payer agrees to. */
export interface Terms {
  network: PaymentNetwork
  recipient: string
  asset: string
  amount: bigint
  /** The site's own requirements, which go back to it unchanged. */
  accepted: PaymentRequirements
  resource: PaidResource | undefined
}

const AMOUNT = /^[1-9]\d{0,19}$/

/**
 * @param maxAmount in USDC, as decimal text
 * @throws SvcError `payment_refused`, or `invalid_option` when `maxAmount` is invalid
 */
export function readTerms({ headers }: Response, maxAmount: string | undefined): Terms {
  const limit = maxAmount === undefined ? undefined : BigInt(smallestUnits(maxAmount, USDC_DECIMALS))
  const text = headers.get('payment-required') ?? headers.get('x-payment-required') ?? ''
  const { accepts, resource } = fieldsOf(decodeMessage(text))
  for (const accepted of Array.isArray(accepts) ? accepts : []) {
    const { scheme, network, asset, amount, payTo } = fieldsOf(accepted)
    if (scheme !== 'exact' || typeof network !== 'string' || !Object.hasOwn(NETWORKS, network)) continue
    if (asset !== NETWORKS[network as PaymentNetwork].usdc) continue
    if (typeof amount !== 'string' || !AMOUNT.test(amount)) continue
    if (typeof payTo !== 'string' || !isPaymentAddress(payTo)) continue
    if (limit !== undefined && BigInt(amount) > limit) throw refused(`this costs more than ${maxAmount} USDC`)
    return {
      network: network as PaymentNetwork,
      recipient: payTo.toLowerCase(),
      asset,
      amount: BigInt(amount),
      accepted,
      resource: resource as PaidResource | undefined,
    }
  }
  throw refused('this site wants a kind of payment that this client does not support')
}

export function refused(message: string): SvcError {
  return new SvcError('payment_refused', message)
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
