// A facilitator asks the chain whether a payment would succeed and whether it was made, and tells it to make it.

import { CONFIRM_INTERVAL_MS, CONFIRM_MS, NODE_EXECUTE_MS } from '../limits.ts'
import { PaymentError } from '../payment-error.ts'
import { normalizeStructTag } from './libraries.ts'
import { isAnswer, isNotFound, type Node, type Nodes } from './nodes.ts'
import { Refusal } from './refusal.ts'
import type { Payment } from './transaction.ts'

/** Transfer is the part of a payment that the chain's answers are compared with. */
export type Transfer = Pick<Payment, 'digest' | 'sender' | 'recipient' | 'asset' | 'amount'>

/** Executed is how a payment ended on the chain; `error` is the chain's word for a failure. */
export interface Executed {
  success: boolean
  error: string | undefined
}

/** Reported is the part of a transaction that this file reads. */
interface Reported {
  digest: string
  status: { success: boolean; error: { message: string } | null }
  balanceChanges: { coinType: string; address: string; amount: string }[]
}

type Result = { Transaction?: Reported | undefined; FailedTransaction?: Reported | undefined }

const INCLUDE = { balanceChanges: true } as const

/** @throws Refusal when the chain would not carry the payment out */
export async function simulate(nodes: Nodes, bytes: Uint8Array, payment: Transfer): Promise<void> {
  let result: Result
  try {
    result = await nodes.ask((client, signal) =>
      client.simulateTransaction({ transaction: bytes, include: INCLUDE, signal }),
    )
  } catch (error) {
    if (!isAnswer(error)) throw error
    throw refusalOf(messageOf(error))
  }
  const transaction = result.Transaction
  if (transaction === undefined || !transaction.status.success)
    throw refusalOf(errorOf(result.FailedTransaction ?? transaction))
  if (!pays(transaction, payment))
    throw new Refusal('invalid_exact_sui_payload_value_mismatch', 'the transaction changes other balances')
}

/** Looks up how a payment ended; undefined where the first node that answers knows of none. */
export async function lookUp(nodes: Nodes, payment: Transfer): Promise<Executed | undefined> {
  return await notFoundAsUndefined(nodes.ask((client, signal) => getExecuted(client, signal, payment)))
}

/**
 * Carries a payment out. The chain does so once for each digest, so that each node may be asked.
 * @throws Refusal when all nodes that answer refuse it, and PaymentError `unsettled` when nobody knows how it ended
 */
export async function execute(
  nodes: Nodes,
  bytes: Uint8Array,
  signature: string,
  payment: Transfer,
): Promise<Executed> {
  const deadline = Date.now() + 2 * NODE_EXECUTE_MS
  let refused: unknown
  let unknown: unknown
  for (const node of nodes.inOrder()) {
    try {
      const executed = await nodes.askOne(
        node,
        async (client, signal) =>
          executedOf(
            await client.executeTransaction({
              transaction: bytes,
              signatures: [signature],
              include: INCLUDE,
              signal,
            }),
            payment,
          ),
        Math.min(NODE_EXECUTE_MS, Math.max(deadline - Date.now(), 1)),
      )
      return await confirmed(nodes, node, payment, executed)
    } catch (error) {
      if (error instanceof PaymentError && error.code === 'unsettled') throw error
      if (isAnswer(error)) refused ??= error
      else unknown = error
    }
  }
  const found = unknown === undefined ? await lookUp(nodes, payment) : await wait(nodes, payment)
  if (found !== undefined) return found
  if (unknown !== undefined) throw unsettled('no full node says how the payment ended', unknown)
  throw refusalOf(messageOf(refused))
}

/** Waits for the outcome of a payment that may have been carried out. */
async function wait(nodes: Nodes, payment: Transfer): Promise<Executed | undefined> {
  const deadline = Date.now() + CONFIRM_MS
  for (;;) {
    const found = await lookUp(nodes, payment).catch(() => undefined)
    if (found !== undefined || Date.now() >= deadline) return found
    await sleep(CONFIRM_INTERVAL_MS)
  }
}

/**
 * One node could claim a payment that it never made, so that another one must know of it, too. Nodes that do not answer
 * do not count: with one node that does, its word is taken.
 */
async function confirmed(nodes: Nodes, node: Node, payment: Transfer, executed: Executed): Promise<Executed> {
  const others = nodes.inOrder().filter((other) => other !== node && !nodes.isAvoided(other))
  const deadline = Date.now() + CONFIRM_MS
  for (let contradicted = others.length > 0; contradicted; ) {
    contradicted = false
    for (const other of others) {
      try {
        const found = await notFoundAsUndefined(
          nodes.askOne(other, (client, signal) => getExecuted(client, signal, payment)),
        )
        if (found?.success === executed.success) return executed
        contradicted = true
      } catch {}
    }
    if (contradicted && Date.now() >= deadline)
      throw unsettled('full nodes say different things about the payment', undefined)
    if (contradicted) await sleep(CONFIRM_INTERVAL_MS)
  }
  return executed
}

async function getExecuted(
  client: Node['client'],
  signal: AbortSignal,
  payment: Transfer,
): Promise<Executed> {
  return executedOf(
    await client.getTransaction({ digest: payment.digest, include: INCLUDE, signal }),
    payment,
  )
}

/** @throws Error when a node answers with another transaction, or with a success that pays nobody */
function executedOf(result: Result, payment: Transfer): Executed {
  const transaction = result.Transaction ?? result.FailedTransaction
  if (transaction?.digest !== payment.digest)
    throw new Error('the full node answers with another transaction')
  const { success } = transaction.status
  if (success && !pays(transaction, payment)) throw new Error('the full node tells of other balances')
  return { success, error: success ? undefined : errorOf(transaction) }
}

/** Returns whether the recipient gets the amount and nobody else anything. A node may leave the changes out. */
function pays({ balanceChanges }: Reported, { sender, recipient, asset, amount }: Transfer): boolean {
  if (balanceChanges.length === 0) return true
  const changed = balanceChanges.filter((change) => change.amount !== '0')
  const gets = (address: string, change: bigint): boolean =>
    changed.some(
      (one) =>
        one.address === address &&
        normalizeStructTag(one.coinType) === asset &&
        BigInt(one.amount) === change,
    )
  return changed.length === 2 && gets(recipient, amount) && gets(sender, -amount)
}

async function notFoundAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The chain has no code for a balance that is too small, but its message says so. */
function refusalOf(message: string): Refusal {
  const isBalance = /insufficient|less than (?:the )?(?:requested|reserved)/i.test(message)
  return new Refusal(
    isBalance ? 'insufficient_funds' : 'invalid_exact_sui_payload_transaction_simulation_failed',
    `the chain would not carry the payment out: ${message}`,
  )
}

/** Characters of a node's message that an answer repeats. */
const MAX_MESSAGE_LENGTH = 300

function errorOf(transaction: Reported | undefined): string {
  return (transaction?.status.error?.message ?? 'it fails').slice(0, MAX_MESSAGE_LENGTH)
}

function messageOf(error: unknown): string {
  return String((error as Partial<Error> | undefined)?.message ?? 'it fails').slice(0, MAX_MESSAGE_LENGTH)
}

function unsettled(message: string, cause: unknown): PaymentError {
  return new PaymentError('unsettled', `${message}: ask again with the same payment`, { cause })
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
