// Pays with x402's reference client: its class does all but the payment itself, which the chain's library makes here. It is
// for Node and for pages.
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Transaction } from '@mysten/sui/transactions'
import { toBase64 } from '@mysten/sui/utils'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { createTestWallet, type TestWallet } from '../../tools/sui-node/wallet.ts'

interface PaidAnswer {
  status: number
  text: string
  /** The settlement as the reference client reads it; undefined where nothing was paid. */
  settlement: { success: boolean; transaction: string; payer?: string } | undefined
}

/** A payer with a wallet of its own, who builds payments with a full node at `nodeUrl`. */
export interface ReferencePayer {
  address: string
  /** Asks, pays when the site answers 402, and asks again. */
  fetch(url: string, ask?: typeof fetch): Promise<PaidAnswer>
}

export function createReferencePayer(nodeUrl: string): ReferencePayer {
  const chain = new SuiGrpcClient({ network: 'testnet', baseUrl: nodeUrl })
  const wallet = createTestWallet()
  const core = new x402Client().register('sui:testnet', {
    scheme: 'exact',
    createPaymentPayload: async (x402Version, terms) => ({
      x402Version,
      payload: await signedPayment(chain, wallet, terms),
    }),
  })
  // The reference client knows no asset of this chain, and pays only in those that it knows, unless it is told to.
  const client = new x402HTTPClient(core.setSpendControls(false))
  return {
    address: wallet.address,
    async fetch(url, ask = fetch) {
      const unpaid = await ask(url)
      if (unpaid.status !== 402) return answerOf(unpaid)
      const required = client.getPaymentRequiredResponse(
        (name) => unpaid.headers.get(name),
        await unpaid.json(),
      )
      const payment = await client.createPaymentPayload(required)
      const response = await ask(url, { headers: client.encodePaymentSignatureHeader(payment) })
      const settlement = client.getPaymentSettleResponse((name) => response.headers.get(name))
      return { ...(await answerOf(response)), settlement: settlement as PaidAnswer['settlement'] }
    },
  }
}

async function answerOf(response: Response): Promise<PaidAnswer> {
  return { status: response.status, text: await response.text(), settlement: undefined }
}

/** The library finds the money, the epoch and that no gas is needed: all is built as any wallet builds it. */
async function signedPayment(
  client: SuiGrpcClient,
  wallet: TestWallet,
  { asset, amount, payTo }: { asset: string; amount: string; payTo: string },
): Promise<{ transaction: string; signature: string }> {
  const transaction = new Transaction()
  transaction.setSender(wallet.address)
  transaction.moveCall({
    target: '0x2::balance::send_funds',
    typeArguments: [asset],
    arguments: [
      transaction.balance({ type: asset, balance: BigInt(amount) }),
      transaction.pure.address(payTo),
    ],
  })
  const text = toBase64(await transaction.build({ client }))
  return { transaction: text, signature: await wallet.signTransaction(text) }
}
