// Simulates, executes and looks up payments on the chain.

import { CONFIRM_INTERVAL_MS, CONFIRM_MS, NODE_EXECUTE_MS } from '../limits.ts'
import { PaymentError } from '../payment-error.ts'
import { normalizeStructTag } from './libraries.ts'
import { isAnswer, isNotFound, type Node, type Nodes } from './nodes.ts'
import { Refusal } from './refusal.ts'
import type { Payment } from './transaction.ts'

/** Transfer is the part of a payment to compare with the chain's answers. */
export type Transfer = Pick<Payment, 'digest' | 'sender' | 'recipient' | 'asset' | 'amount'>

/** Executed is the outcome of a payment on the chain; `error` is the chain's message about a failure. */
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

/** @throws Refusal when the chain would not execute the payment */
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

/** Looks up the outcome of a payment; undefined when the first node that answers does not know the payment. */
export async function lookUp(nodes: Nodes, payment: Transfer): Promise<Executed | undefined> {
  return await notFoundAsUndefined(nodes.ask((client, signal) => getExecuted(client, signal, payment)))
}

/**
 * Executes a payment. The chain executes each digest once, so several nodes may be asked.
 * @throws Refusal when all nodes that answer refuse it, and PaymentError `unsettled` when the outcome is unknown
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

/** Waits for the outcome of a payment that may have been executed. */
async function wait(nodes: Nodes, payment: Transfer): Promise<Executed | undefined> {
  const deadline = Date.now() + CONFIRM_MS
  for (;;) {
    const found = await lookUp(nodes, payment).catch(() => undefined)
    if (found !== undefined || Date.now() >= deadline) return found
    await sleep(CONFIRM_INTERVAL_MS)
  }
}

/**
 * One node could claim a payment that never happened, so another one must confirm it. Nodes that do not answer
 * do not count: if only one answers, its answer is accepted.
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

/** Returns whether only the recipient gets the amount. A node may omit the changes. */
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

/** Makes the refusal from the message, since the chain has no code for an insufficient balance. */
function refusalOf(message: string): Refusal {
  const isBalance = /insufficient|less than (?:the )?(?:requested|reserved)/i.test(message)
  return new Refusal(
    isBalance ? 'insufficient_funds' : 'invalid_exact_sui_payload_transaction_simulation_failed',
    `the chain would not carry the payment out: ${message}`,
  )
}

/** The most characters of a node's message in an answer. */
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
