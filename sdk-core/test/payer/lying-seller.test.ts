// A seller who asks a cent and wants something else signed or carried out gets no signature, and no money moves. The chain and the
// facilitator are real, and whatever the wallet signs is carried out at once, as such a seller would do.

import { NETWORKS } from '@svc/payment'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { depositBytes } from '../../../payment/src/transaction-bytes.ts'
import { STRANGER, transactionOf, type Variation } from '../../../payment/test/payments.ts'
import { CLIENT_SCRIPT } from '../../src/handlers/paid/client-script.ts'
import * as client from '../../src/payer/index.ts'
import { encode, openShop, PAY_TO, type Shop, SITE } from '../handlers/paid/shop.ts'

const CENT = 10_000n
const FIFTY_USDC = 50_000_000n
const EPOCH = 1_000n
const THIEF = STRANGER.toSuiAddress()
const USDC = NETWORKS['sui:testnet'].usdc

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, 'base64'))
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

type Client = Pick<typeof client, 'x402Fetch' | 'settlementOf'>
const CLIENTS: [string, () => Promise<Client>][] = [
  ['the client in the payer’s bundle', async () => client],
  ['/x402/client.js', () => import(`data:text/javascript,${encodeURIComponent(CLIENT_SCRIPT)}`)],
]

let shop: Shop
/** Replaces what the seller answers to `/x402/prepare`, and its price. */
let lie: { prepared?: (answer: Prepared) => Promise<object>; terms?: object }
let signed: string[]

interface Prepared {
  paymentTransaction: { transaction: string }
}

beforeEach(async () => {
  lie = {}
  signed = []
  shop = await openShop(() => new Response('sold'))
  shop.node.chain.fund(shop.wallet.address, 100_000_000n)
  vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'POST' ? await request.text() : undefined
    const response = await shop.ask(pathname, { method, headers, ...(body !== undefined && { body }) })
    if (pathname === '/x402/prepare' && lie.prepared)
      return Response.json(await lie.prepared(await response.json()))
    if (response.status === 402 && lie.terms) {
      const required = JSON.parse(Buffer.from(response.headers.get('payment-required')!, 'base64').toString())
      required.accepts[0] = { ...required.accepts[0], ...lie.terms }
      return new Response(null, { status: 402, headers: { 'payment-required': encode(required) } })
    }
    return response
  })
})
afterEach(() => vi.unstubAllGlobals())

/** The seller carries out at once whatever it gets. */
const wallet = () => ({
  address: shop.wallet.address,
  sign: async (transaction: string): Promise<string> => {
    const signature = await cash(transaction)
    return signature
  },
  execute: cash,
})

async function cash(transaction: string): Promise<string> {
  signed.push(transaction)
  const signature = await shop.wallet.signTransaction(transaction)
  await shop.node.chain.execute(fromBase64(transaction), [fromBase64(signature)]).catch(() => {})
  return signature
}

const payment = async (variation: Variation): Promise<{ transaction: string }> => ({
  transaction: toBase64(
    await transactionOf({
      sender: shop.wallet.address,
      payTo: PAY_TO,
      minEpoch: EPOCH,
      maxEpoch: EPOCH,
      ...variation,
    }),
  ),
})

describe.each(CLIENTS)('%s', (_name, load) => {
  const buy = async (options: object = { maxAmount: '0.05' }): Promise<Response> =>
    (await load()).x402Fetch(`${SITE}/paid`, {}, { wallet: wallet(), ...options })

  /** Neither the seller, nor a thief, nor anybody else gets anything. */
  async function expectNothingPaid(): Promise<void> {
    const before = shop.node.chain.balance(shop.wallet.address)
    await expect(buy()).rejects.toMatchObject({ code: 'payment_refused' })
    expect(signed).toEqual([])
    expect(shop.node.chain.balance(shop.wallet.address)).toBe(before)
    expect([shop.earned(), shop.node.chain.balance(THIEF)]).toEqual([0n, 0n])
  }

  test('pays an honest seller the cent, once', async () => {
    const keep = wallet()
    const options = { maxAmount: '0.01', wallet: { ...keep, sign: shop.wallet.signTransaction } }
    const response = await buy(options)
    expect([response.status, await response.text(), shop.earned()]).toEqual([200, 'sold', CENT])
    expect((await load()).settlementOf(response)).toMatchObject({ success: true, payer: keep.address })
  })

  test.each<[string, Variation]>([
    ['50 USDC', { amount: FIFTY_USDC }],
    ['less than it asked', { amount: CENT / 2n }],
    ['a payment to somebody else', { payTo: THIEF }],
    ['another coin', { asset: NETWORKS['sui:mainnet'].usdc }],
    ['a payment of another sender', { sender: THIEF }],
    ['one that is valid for a month', { maxEpoch: EPOCH + 30n }],
    ['one of a distant epoch', { minEpoch: EPOCH + 5_000n, maxEpoch: EPOCH + 5_000n }],
    ['one without an end', { change: (t) => t.setExpiration({ None: true }) }],
    ['one for another chain', { chain: NETWORKS['sui:mainnet'].chain }],
    ['one that pays gas', { change: (t) => t.setGasBudget(1_000) }],
    [
      'one with another payment behind it',
      {
        change: (t) => {
          const [funds] = t.moveCall({
            target: '0x2::balance::redeem_funds',
            typeArguments: [USDC],
            arguments: [t.withdrawal({ amount: FIFTY_USDC, type: USDC })],
          })
          t.moveCall({
            target: '0x2::balance::send_funds',
            typeArguments: [USDC],
            arguments: [funds!, t.pure.address(THIEF)],
          })
        },
      },
    ],
  ])('signs nothing for a seller who prepares %s (protocol §19.2.6)', async (_what, variation) => {
    lie.prepared = async (answer) => ({ ...answer, paymentTransaction: await payment(variation) })
    await expectNothingPaid()
  })

  test.each<[string, () => Promise<{ transaction: string }>]>([
    ['a payment', () => payment({ amount: FIFTY_USDC, payTo: THIEF })],
    ['even the payment itself', () => payment({})],
    ['the payer’s coins for somebody else', () => moved(THIEF, USDC)],
    ['coins of another kind', () => moved(shop.wallet.address, NETWORKS['sui:mainnet'].usdc)],
    ['nothing', async () => ({ transaction: '' })],
  ])('carries nothing out for a seller who wants %s to be moved first', async (_what, hostile) => {
    shop.node.chain.fundCoin(shop.wallet.address, FIFTY_USDC)
    lie.prepared = async (answer) => ({ ...answer, prepareTransaction: await hostile() })
    await expectNothingPaid()
  })

  test.each<[string, object]>([
    ['more than the limit', { amount: '50001' }],
    ['an amount in other words', { amount: '0x1' }],
    ['a negative amount', { amount: '-50000000' }],
    ['another coin', { asset: '0x2::sui::SUI' }],
    ['another network', { network: 'sui:devnet' }],
    ['another scheme', { scheme: 'upto' }],
    ['no recipient', { payTo: '0x0' }],
  ])('pays nothing for a price that is %s', async (_what, terms) => {
    lie.terms = terms
    await expectNothingPaid()
  })

  test('moves the payer’s own coins, and no others, before it pays', async () => {
    const { node } = shop
    node.chain.fund(shop.wallet.address, -node.chain.balance(shop.wallet.address))
    node.chain.fundCoin(shop.wallet.address, CENT)
    const own = { ...wallet(), sign: shop.wallet.signTransaction }
    expect((await buy({ maxAmount: '0.01', wallet: own })).status).toBe(200)
    expect([signed.length, shop.earned(), node.chain.balance(shop.wallet.address)]).toEqual([1, CENT, 0n])
  })

  test.each(['', '0', '1,5', '1e3', 'much'])('pays nothing where maxAmount is %j', async (maxAmount) => {
    await expect(buy({ maxAmount })).rejects.toMatchObject({ code: 'invalid_option' })
    expect(signed).toEqual([])
  })
})

/** A deposit of the payer's coins by the payer, as a thief would write it. */
async function moved(recipient: string, asset: string): Promise<{ transaction: string }> {
  const { wallet: payer, node } = shop
  const [coin] = node.chain.ledger.coins(payer.address, USDC)
  const period = { minEpoch: EPOCH, maxEpoch: EPOCH, chain: NETWORKS['sui:testnet'].chain, nonce: 1 }
  const bytes = depositBytes(
    { sender: payer.address, asset },
    [coin && { ...coin, objectId: coin.id }].filter((one) => one !== undefined),
    period,
  )
  // each place of the address but those of sender and gas owner is the recipient
  const own = Buffer.from(payer.address.slice(2), 'hex')
  const at = Buffer.from(bytes).indexOf(own)
  bytes.set(Buffer.from(recipient.slice(2), 'hex'), at)
  return { transaction: toBase64(bytes) }
}
