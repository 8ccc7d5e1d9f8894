// A shop for tests: paid routes with a real facilitator, on a local full node, and a buyer with money.

import { createFacilitator, type Facilitator, openLogJournal, type PaymentRequired } from '@svc/payment'
import { SuiNode } from '../../../../tools/sui-node/node.ts'
import { createTestWallet, type TestWallet } from '../../../../tools/sui-node/wallet.ts'
import type { FetchHandler, FetchInfo } from '../../../src/exchange/fetch-handler.ts'
import type { PaidOptions } from '../../../src/handlers/paid/options.ts'
import { paid } from '../../../src/handlers/paid/paid.ts'

export const SITE = 'https://demo.relay.example'
export const PAY_TO = `0x${'5e'.repeat(32)}`
const NETWORK = 'sui:testnet'

export interface Shop {
  node: SuiNode
  facilitator: Facilitator
  wallet: TestWallet
  /** The errors that the site reported. */
  errors: unknown[]
  handler: FetchHandler
  ask(path: string, init?: RequestInit): Promise<Response>
  /** Asks for the price, prepares and signs. */
  pay(path: string, init?: RequestInit): Promise<string>
  /** Asks with a payment. */
  buy(path: string, payment: string, init?: RequestInit): Promise<Response>
  /** The seller's balance, in smallest units. */
  earned(): bigint
}

export type ShopOptions = Partial<PaidOptions> & { wrap?: (facilitator: Facilitator) => Facilitator }

export async function openShop(
  handler: FetchHandler,
  { wrap = (inner) => inner, ...options }: ShopOptions = {},
): Promise<Shop> {
  const node = new SuiNode({ network: NETWORK })
  const wallet = createTestWallet()
  node.chain.fund(wallet.address, 1_000_000n)
  const facilitator = await createFacilitator({
    network: NETWORK,
    payTo: PAY_TO,
    journal: await journalInMemory(),
    endpoints: ['http://node.example'],
    fetch: node.fetch as typeof fetch,
  })
  const sold = paid(handler, {
    payTo: PAY_TO,
    network: NETWORK,
    facilitator: wrap(facilitator),
    routes: [{ path: '/paid', amount: '0.01' }],
    ...options,
  })
  const errors: unknown[] = []
  const info: Partial<FetchInfo> = {
    canonicalUrl: SITE,
    waitUntil: (promise) => void Promise.resolve(promise).catch((error) => errors.push(error)),
  }
  const ask = async (path: string, init?: RequestInit): Promise<Response> =>
    sold(new Request(SITE + path, init), info as FetchInfo)
  const pay = async (path: string, init: RequestInit = {}): Promise<string> => {
    const { accepts, resource } = required(await ask(path, { ...init, method: init.method ?? 'GET' }))
    const prepared = await ask('/x402/prepare', {
      method: 'POST',
      body: JSON.stringify({ sender: wallet.address, method: init.method, path }),
    })
    const { paymentTransaction } = await prepared.json()
    const { transaction } = paymentTransaction
    const signature = await wallet.signTransaction(transaction)
    return encode({ x402Version: 2, resource, accepted: accepts[0], payload: { signature, transaction } })
  }
  const buy = (path: string, payment: string, init: RequestInit = {}): Promise<Response> =>
    ask(path, { ...init, headers: { ...(init.headers as object), 'PAYMENT-SIGNATURE': payment } })
  const earned = (): bigint => node.chain.balance(PAY_TO)
  return { node, facilitator, wallet, errors, handler: sold, ask, pay, buy, earned }
}

export function required(response: Response): PaymentRequired {
  return decode(response.headers.get('payment-required')!)
}

export function receipt(
  response: Response,
): { success: boolean; transaction: string; payer?: string } | undefined {
  const text = response.headers.get('payment-response')
  return text === null ? undefined : decode(text)
}

export function encode(message: unknown): string {
  return Buffer.from(JSON.stringify(message)).toString('base64')
}

export function decode<T>(text: string): T {
  return JSON.parse(Buffer.from(text, 'base64').toString())
}

function journalInMemory(): ReturnType<typeof openLogJournal> {
  let text: string | undefined
  return openLogJournal({
    read: async () => text,
    append: async (added) => {
      text += added
    },
    replace: async (whole) => {
      text = whole
    },
  })
}
