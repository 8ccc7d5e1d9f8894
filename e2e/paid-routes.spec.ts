// Visitors pay for a site's paid route through a real tunnel, on a local chain: with x402's reference client in Node and in
// Chromium, and with a wallet of the browser on the page that asks for the payment.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { publish } from '@svc/sdk-node'
import { paid } from '@svc/sdk-node/handlers'
import { createFacilitator, openPaymentJournal } from '@svc/sdk-node/payment'
import type { SuiNode } from '../tools/sui-node/node.ts'
import { startSuiNode } from '../tools/sui-node/server.ts'
import { createTestWallet } from '../tools/sui-node/wallet.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { openPayer } from './support/payer-page.ts'
import { createReferencePayer } from './support/reference-payer.ts'
import { addSuiWallet } from './support/sui-wallet.ts'

const PAY_TO = `0x${'5e'.repeat(32)}`
const PRICE = 20_000n

interface Shop {
  url: string
  node: SuiNode
  nodeUrl: string
  /** Gives an address two payments' worth. */
  fund(address: string): void
  earned(): bigint
  balance(address: string): bigint
}

const shopTest = test.extend<{ shop: Shop }>({
  shop: async ({ relay }, use, info) => {
    const { url: nodeUrl, node, close } = await startSuiNode()
    const facilitator = await createFacilitator({
      network: 'sui:testnet',
      payTo: PAY_TO,
      endpoints: [nodeUrl],
      journal: await openPaymentJournal(info.outputPath('payments.log')),
    })
    const site = await publish({
      relay: relay.url,
      name: `shop-${randomBytes(4).toString('hex')}`,
      ca: await readFile(relay.caFile, 'utf8'),
      identity: randomBytes(32),
      fetch: paid(() => new Response('the answer', { headers: { 'Content-Type': 'text/html' } }), {
        payTo: PAY_TO,
        network: 'sui:testnet',
        facilitator,
        routes: [{ path: '/paid', amount: '0.02' }],
      }),
    })
    const balance = (address: string): bigint => node.chain.balance(address)
    const fund = (address: string): void => node.chain.fund(address, 2n * PRICE)
    await use({ url: site.url, node, nodeUrl, fund, balance, earned: () => balance(PAY_TO) })
    await site.close()
    await close()
  },
})

wholeOnly(shopTest, 'variant')(
  'it pays from Node, and each payment is for one answer',
  async ({ relay, shop }) => {
    const payer = createReferencePayer(shop.nodeUrl)
    const ask = askWith(await readFile(relay.caFile, 'utf8'))
    await expect(payer.fetch(`${shop.url}/paid`, ask)).rejects.toThrow(/Insufficient balance/)
    shop.fund(payer.address)
    for (const earned of [PRICE, 2n * PRICE]) {
      const answer = await payer.fetch(`${shop.url}/paid`, ask)
      expect(answer).toMatchObject({
        status: 200,
        text: 'the answer',
        settlement: { success: true, payer: payer.address },
      })
      expect(shop.earned()).toBe(earned)
    }
    expect(shop.balance(payer.address)).toBe(0n)
    expect(await payer.fetch(`${shop.url}/free`, ask)).toMatchObject({ status: 200, settlement: undefined })
  },
)

shopTest('it pays from a page of another origin in Chromium', async ({ pageServer, shop, visitor }) => {
  const { address, pay } = await openPayer(visitor, `${pageServer.url}payments.html`, shop.nodeUrl)
  shop.fund(address)
  const settlement = { success: true, payer: address }
  expect(await pay(`${shop.url}/paid`)).toMatchObject({ status: 200, text: 'the answer', settlement })
  expect(shop.earned()).toBe(PRICE)
})

wholeOnly(shopTest, 'variant')(
  'a visitor whose money is in a coin pays with a wallet of the browser, on the page that says the price',
  async ({ browser, shop }) => {
    const wallet = createTestWallet()
    shop.node.chain.fundCoin(wallet.address, 2n * PRICE)
    const context = await browser.newContext()
    await addSuiWallet(context, {
      address: wallet.address,
      sign: wallet.signTransaction,
      execute: async (transaction) => {
        const signature = Buffer.from(await wallet.signTransaction(transaction), 'base64')
        await shop.node.chain.execute(Buffer.from(transaction, 'base64'), [signature])
      },
    })
    const page = await context.newPage()
    expect((await page.goto(`${shop.url}/paid`))?.status()).toBe(402)
    await page.getByRole('button', { name: 'Pay 0.02 USDC' }).dblclick()
    await expect(page.locator('body')).toHaveText('the answer')
    expect(shop.earned()).toBe(PRICE)
    expect(shop.balance(wallet.address)).toBe(PRICE)
    await context.close()
  },
)

/** `fetch` for sites of the relay on this machine. */
function askWith(ca: string): typeof fetch {
  return async (input, init) => {
    const { host, hostname, port, pathname } = new URL(String(input))
    const target = { host: '127.0.0.1', servername: hostname, port, ca }
    const headers = { Host: host, ...(init?.headers as Record<string, string>) }
    const sent = request({ ...target, path: pathname, headers }).end()
    const [response] = await once(sent, 'response')
    const fields = Object.entries(response.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    return new Response(await text(response), { status: response.statusCode, headers: fields })
  }
}
