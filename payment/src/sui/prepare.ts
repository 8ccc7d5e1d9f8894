// Builds the transaction that a visitor signs to pay, so that the visitor's page needs no blockchain library.

import { MAX_GATHERED_COINS, PAYMENT_SECONDS } from '../limits.ts'
import type { PreparedPayment } from '../messages.ts'
import { PaymentError } from '../payment-error.ts'
import { depositBytes, type Period, paymentBytes } from '../transaction-bytes.ts'
import { toBase64 } from './libraries.ts'
import type { Nodes } from './nodes.ts'
import type { Terms } from './request.ts'

/** A coin object of the sender. */
interface Coin {
  objectId: string
  version: string
  digest: string
  balance: string
}

/**
 * Resolves with the payment, preceded by a transaction that moves coins of the sender into its address balance if that balance
 * alone is too small.
 * @throws PaymentError `invalid_request` with `insufficient_funds`, or `nodes_unavailable`
 */
export async function preparePayment(
  nodes: Nodes,
  sender: string,
  terms: Terms,
  now: number,
): Promise<PreparedPayment> {
  const { balance } = await nodes.ask((client, signal) =>
    client.getBalance({ owner: sender, coinType: terms.asset, signal }),
  )
  const missing = terms.amount - BigInt(balance.addressBalance)
  const coins = missing > 0n ? await gather(nodes, sender, terms, missing) : []
  const { asset, amount, payTo: recipient } = terms
  const periodOf = await periods(nodes, now)
  const payment = paymentBytes({ sender, recipient, asset, amount }, periodOf())
  const paymentTransaction = { transaction: toBase64(payment) }
  if (coins.length === 0) return { paymentTransaction }
  const moved = coins.map((coin) => ({ ...coin, version: BigInt(coin.version) }))
  const deposit = depositBytes({ sender, asset }, moved, periodOf())
  return { prepareTransaction: { transaction: toBase64(deposit) }, paymentTransaction }
}

/** Selects few coins of the sender that cover the missing amount, largest first. @throws PaymentError */
async function gather(nodes: Nodes, sender: string, terms: Terms, missing: bigint): Promise<Coin[]> {
  const { objects } = await nodes.ask((client, signal) =>
    client.listCoins({ owner: sender, coinType: terms.asset, limit: MAX_GATHERED_COINS, signal }),
  )
  const largest = objects
    .slice(0, MAX_GATHERED_COINS)
    .sort((one, other) => (BigInt(other.balance) > BigInt(one.balance) ? 1 : -1))
  let rest = missing
  const taken: Coin[] = []
  for (const coin of largest) {
    if (rest <= 0n) break
    taken.push(coin)
    rest -= BigInt(coin.balance)
  }
  if (rest > 0n)
    throw new PaymentError('invalid_request', `${sender} has less than ${terms.amount} of ${terms.asset}`, {
      reason: 'insufficient_funds',
    })
  return taken
}

/** Resolves with the validity of new transactions: only the current epoch if it lasts long enough. */
async function periods(nodes: Nodes, now: number): Promise<() => Period> {
  const [{ chain, epoch }, { systemState }] = await Promise.all([
    nodes.state(),
    nodes.ask((client, signal) => client.core.getCurrentSystemState({ signal })),
  ])
  const epochEnd = Number(systemState.epochStartTimestampMs) + Number(systemState.parameters.epochDurationMs)
  // `NaN`, from a node that does not report the end of its epoch, also includes the next epoch.
  const isLong = epochEnd - now > 2 * PAYMENT_SECONDS * 1_000
  const maxEpoch = isLong ? epoch : epoch + 1n
  // No network of the chain takes times yet: "Timestamp-based transaction expiration is not yet supported".
  return () => ({
    minEpoch: epoch,
    maxEpoch,
    chain,
    nonce: crypto.getRandomValues(new Uint32Array(1))[0]!,
  })
}
