// Checks that the transactions which a seller prepared are the ones that the buyer wants to sign. The buyer builds each from its own
// data, takes only the validity and the coins from the seller's, and compares all bytes.

import { MAX_GATHERED_COINS } from './limits.ts'
import { NETWORKS, type PaymentNetwork } from './networks.ts'
import {
  coinsOf,
  depositBytes,
  isEqual,
  type Period,
  paymentBytes,
  periodOf,
  type Transfer,
  VARIANTS,
} from './transaction-bytes.ts'

const DAY_MS = 86_400_000

/**
 * @param now milliseconds since 1970
 * @returns whether `bytes` are this payment and nothing else, valid now and for the next epoch at most
 */
export function isPayment(
  bytes: Uint8Array,
  transfer: Transfer,
  network: PaymentNetwork,
  now: number,
): boolean {
  const period = periodIn(bytes, network, now)
  return (
    period !== undefined &&
    VARIANTS.some((variant) => isEqual(bytes, paymentBytes(transfer, period, variant)))
  )
}

/** @returns whether `bytes` move coins of the sender into the sender's own address balance and do nothing else, valid as a payment */
export function isDeposit(
  bytes: Uint8Array,
  of: Pick<Transfer, 'sender' | 'asset'>,
  network: PaymentNetwork,
  now: number,
): boolean {
  const period = periodIn(bytes, network, now)
  const coins = coinsOf(bytes)
  if (period === undefined || coins.length === 0 || coins.length > MAX_GATHERED_COINS) return false
  return isEqual(bytes, depositBytes(of, coins, period))
}

/**
 * The chain allows at most two epochs. An epoch lasts at least a day, so the clock bounds the current one.
 * Returns undefined for wall-clock times, which no network accepts.
 */
function periodIn(bytes: Uint8Array, network: PaymentNetwork, now: number): Period | undefined {
  const { chain, began } = NETWORKS[network]
  const period = periodOf(bytes)
  const latest = BigInt(Math.floor((now + DAY_MS - began) / DAY_MS))
  if (period === undefined || period.minEpoch > latest || period.chain !== chain) return undefined
  const epochs = period.maxEpoch - period.minEpoch
  return epochs === 0n || epochs === 1n ? period : undefined
}
