// Payments as a wallet makes them, with the chain's own library, for tests.

import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { NETWORKS, type PaymentRequest, type PaymentRequirements, usdcRequirements } from '../src/index.ts'

export const PAYER: Ed25519Keypair = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(7))
export const STRANGER: Ed25519Keypair = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(8))
export const PAY_TO: string = `0x${'5e'.repeat(32)}`
export const USDC: string = NETWORKS['sui:testnet'].usdc
export const CHAIN: string = NETWORKS['sui:testnet'].chain
const RESOURCE = 'https://demo.relay.example/paid'

/** The differences from a payment of 0.01 USDC that is right. */
export interface Variation {
  payTo?: string
  amount?: bigint
  asset?: string
  module?: 'balance' | 'coin'
  chain?: string
  minEpoch?: bigint | null
  maxEpoch?: bigint | null
  maxTimestamp?: number
  nonce?: number
  sender?: string
  /** Changes the transaction before it is built. */
  change?: (transaction: Transaction) => void
}

/** The bytes of a payment. Epoch 100 is the present one. */
export async function transactionOf(variation: Variation = {}): Promise<Uint8Array<ArrayBuffer>> {
  const { payTo = PAY_TO, amount = 10_000n, asset = USDC, module = 'balance', chain = CHAIN } = variation
  const { minEpoch = 100n, maxEpoch = 101n, maxTimestamp, nonce = 1 } = variation
  const transaction = new Transaction()
  transaction.setSender(variation.sender ?? PAYER.toSuiAddress())
  transaction.setGasPrice(0)
  transaction.setGasBudget(0)
  transaction.setGasPayment([])
  transaction.setExpiration({
    ValidDuring: {
      minEpoch: minEpoch === null ? null : String(minEpoch),
      maxEpoch: maxEpoch === null ? null : String(maxEpoch),
      minTimestamp: null,
      maxTimestamp: maxTimestamp === undefined ? null : String(maxTimestamp),
      chain,
      nonce,
    },
  })
  const [funds] = transaction.moveCall({
    target: `0x2::${module}::redeem_funds`,
    typeArguments: [asset],
    arguments: [transaction.withdrawal({ amount, type: asset })],
  })
  transaction.moveCall({
    target: `0x2::${module}::send_funds`,
    typeArguments: [asset],
    arguments: [funds!, transaction.pure.address(payTo)],
  })
  variation.change?.(transaction)
  return (await transaction.build()) as Uint8Array<ArrayBuffer>
}

/** The question of a site about a payment of {@link PAYER}, or of another signer. */
export async function requestOf(
  variation: Variation = {},
  requirements: Partial<PaymentRequirements> = {},
  signer: Ed25519Keypair = PAYER,
): Promise<PaymentRequest> {
  return requestFor(await transactionOf(variation), requirements, signer)
}

export async function requestFor(
  transaction: Uint8Array<ArrayBuffer>,
  requirements: Partial<PaymentRequirements> = {},
  signer: Ed25519Keypair = PAYER,
): Promise<PaymentRequest> {
  const paymentRequirements = { ...usdcRequirements('sui:testnet', PAY_TO, '10000'), ...requirements }
  const { bytes, signature } = await signer.signTransaction(transaction)
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: RESOURCE },
      accepted: paymentRequirements,
      payload: { transaction: bytes, signature },
    },
    paymentRequirements,
  }
}
