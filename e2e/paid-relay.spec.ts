// A page sells with the facilitator of its relay, which is the default, and a visitor's page pays; both are in Chromium.

import { startTestRelay } from '../tools/relay/test-relay.ts'
import { type RunningSuiNode, startSuiNode } from '../tools/sui-node/server.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { openPayer } from './support/payer-page.ts'

const PAY_TO = `0x${'5e'.repeat(32)}`

const test = base.extend<object, { chain: RunningSuiNode }>({
  chain: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const chain = await startSuiNode()
      await use(chain)
      await chain.close()
    },
    { scope: 'worker' },
  ],
  relay: [
    async ({ chain }, use) => {
      const env = {
        X402_ENABLED: 'true',
        X402_TESTNET: 'true',
        X402_PAY_TO: PAY_TO,
        X402_ENDPOINTS: chain.url,
      }
      const relay = await startTestRelay({ env })
      await use(relay)
      await relay.stop()
    },
    { scope: 'worker' },
  ],
})

wholeOnly(test, 'variant')(
  'a visitor pays for what a page sells',
  async ({ chain, pageServer, relay, tenant, visitor }) => {
    const pageUrl = `${pageServer.url}payments.html`
    await tenant.goto(pageUrl)
    const sell = { relay: relay.url, payTo: PAY_TO }
    const url = await tenant.evaluate(async ({ relay, payTo }) => {
      const routes = [{ path: '/paid', amount: '0.01' }]
      const fetch = payments.paid(() => new Response('the answer'), { payTo, network: 'sui:testnet', routes })
      return (await payments.publish({ relay, name: 'seller', fetch })).url
    }, sell)
    const { address, pay } = await openPayer(visitor, pageUrl, chain.url)
    chain.node.chain.fund(address, 10_000n)
    const settlement = { success: true, payer: address }
    expect(await pay(`${url}/paid`)).toMatchObject({ status: 200, text: 'the answer', settlement })
    expect(chain.node.chain.balance(PAY_TO)).toBe(10_000n)
  },
)
