// Proves that the transactions which a seller prepared are the ones that its buyer means to sign. The buyer writes each anew, from
// what the buyer knows, and takes from the seller only when it is valid and which coins it moves; then all bytes have to be equal.

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
 * The chain takes two epochs at most. An epoch lasts a day or longer, so that the clock bounds which one is the present one.
 * A transaction with times of the clock is none of ours: no network takes them.
 */
function periodIn(bytes: Uint8Array, network: PaymentNetwork, now: number): Period | undefined {
  const { chain, began } = NETWORKS[network]
  const period = periodOf(bytes)
  const latest = BigInt(Math.floor((now + DAY_MS - began) / DAY_MS))
  if (period === undefined || period.minEpoch > latest || period.chain !== chain) return undefined
  const epochs = period.maxEpoch - period.minEpoch
  return epochs === 0n || epochs === 1n ? period : undefined
}
