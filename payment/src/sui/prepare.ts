// Makes the transaction that a visitor signs to pay, so that the visitor's page needs no library of the chain.

import { MAX_GATHERED_COINS, PAYMENT_SECONDS } from '../limits.ts'
import type { PreparedPayment } from '../messages.ts'
import { PaymentError } from '../payment-error.ts'
import { Transaction, toBase64 } from './libraries.ts'
import type { ChainState, Nodes } from './nodes.ts'
import type { Terms } from './request.ts'

/** A coin object of the sender. */
interface Coin {
  objectId: string
  version: string
  digest: string
  balance: string
}

/**
 * The payment, and before it a transaction that moves coins of the sender into its address balance, where that balance
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
  const end = await endOf(nodes, now)
  const payment = { transaction: await build(sender, end, (transaction) => pay(transaction, terms)) }
  if (coins.length === 0) return { paymentTransaction: payment }
  const deposit = await build(sender, end, (transaction) =>
    depositCoins(transaction, coins, sender, terms.asset),
  )
  return { prepareTransaction: { transaction: deposit }, paymentTransaction: payment }
}

/** Few coins of the sender that make up what is missing, the largest first. @throws PaymentError */
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

/** The chain, and the epochs within which the transactions are valid: this one alone where it lasts long enough. */
async function endOf(nodes: Nodes, now: number): Promise<ChainState & { lastEpoch: bigint }> {
  const [state, { systemState }] = await Promise.all([
    nodes.state(),
    nodes.ask((client, signal) => client.core.getCurrentSystemState({ signal })),
  ])
  const epochEnd = Number(systemState.epochStartTimestampMs) + Number(systemState.parameters.epochDurationMs)
  // `NaN`, from a node that does not say when its epoch ends, leads to the next one, too.
  const isLong = epochEnd - now > 2 * PAYMENT_SECONDS * 1_000
  return { ...state, lastEpoch: isLong ? state.epoch : state.epoch + 1n }
}

/** Builds a transaction without gas, and gives its bytes in Base64. */
async function build(
  sender: string,
  { chain, epoch, lastEpoch }: ChainState & { lastEpoch: bigint },
  fill: (transaction: Transaction) => void,
): Promise<string> {
  const transaction = new Transaction()
  transaction.setSender(sender)
  transaction.setGasPrice(0)
  transaction.setGasBudget(0)
  transaction.setGasPayment([])
  transaction.setExpiration({
    ValidDuring: {
      minEpoch: String(epoch),
      maxEpoch: String(lastEpoch),
      // No network of the chain takes times yet: "Timestamp-based transaction expiration is not yet supported".
      minTimestamp: null,
      maxTimestamp: null,
      chain,
      nonce: crypto.getRandomValues(new Uint32Array(1))[0]!,
    },
  })
  fill(transaction)
  return toBase64(await transaction.build())
}

function pay(transaction: Transaction, { asset, amount, payTo }: Terms): void {
  const [balance] = transaction.moveCall({
    target: '0x2::balance::redeem_funds',
    typeArguments: [asset],
    arguments: [transaction.withdrawal({ amount, type: asset })],
  })
  transaction.moveCall({
    target: '0x2::balance::send_funds',
    typeArguments: [asset],
    arguments: [balance!, transaction.pure.address(payTo)],
  })
}

function depositCoins(transaction: Transaction, coins: Coin[], sender: string, asset: string): void {
  for (const coin of coins)
    transaction.moveCall({
      target: '0x2::coin::send_funds',
      typeArguments: [asset],
      arguments: [transaction.objectRef(coin), transaction.pure.address(sender)],
    })
}
