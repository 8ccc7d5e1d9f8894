// A local full node with the library's client, a payer who has money, and payments as the library builds them.
import type { SuiClientTypes } from '@mysten/sui/client'
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Transaction } from '@mysten/sui/transactions'
import { toBase64 } from '@mysten/sui/utils'
import { onTestFinished } from 'vitest'
import { USDC } from '../../sui-node/chain.ts'
import { type RunningSuiNode, type SuiNodeOptions, startSuiNode } from '../../sui-node/server.ts'
import { createTestWallet, type TestWallet } from '../../sui-node/wallet.ts'

export const COIN: string = USDC['sui:testnet']

export interface TestChain extends RunningSuiNode {
  client: SuiGrpcClient
  payer: TestWallet
  payee: TestWallet
}

/** Starts a node on which the payer has an address balance of one dollar. */
export async function startChain(options: SuiNodeOptions = {}): Promise<TestChain> {
  const running = await startSuiNode(options)
  onTestFinished(running.close)
  const [payer, payee] = [createTestWallet(), createTestWallet()]
  running.node.chain.fund(payer.address, 1_000_000n)
  return { ...running, client: clientOf(running.url), payer, payee }
}

export function clientOf(baseUrl: string): SuiGrpcClient {
  return new SuiGrpcClient({ network: 'testnet', baseUrl })
}

/** A payment that the library asks the node to complete. */
export function payment(from: string, to: string, amount: bigint, type: string = COIN): Transaction {
  const transaction = new Transaction()
  transaction.setSender(from)
  transaction.moveCall({
    target: '0x2::balance::send_funds',
    typeArguments: [type],
    arguments: [transaction.balance({ type, balance: amount }), transaction.pure.address(to)],
  })
  return transaction
}

type Paid = SuiClientTypes.Transaction<{ balanceChanges: true; bcs: true }>

/** Builds, signs and executes a payment. */
export async function pay(
  { client, payer, payee }: TestChain,
  amount: bigint,
  type: string = COIN,
): Promise<Paid> {
  return await execute(
    client,
    payer,
    await payment(payer.address, payee.address, amount, type).build({ client }),
  )
}

export async function execute(client: SuiGrpcClient, signer: TestWallet, bytes: Uint8Array): Promise<Paid> {
  const signature = await signer.signTransaction(toBase64(bytes))
  const options = {
    transaction: bytes,
    signatures: [signature],
    include: { balanceChanges: true, bcs: true } as const,
  }
  const result = await client.core.executeTransaction(options)
  return result.$kind === 'Transaction' ? result.Transaction : result.FailedTransaction
}
