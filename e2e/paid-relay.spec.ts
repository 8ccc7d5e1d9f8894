// A page sells with the facilitator of its relay, which is the default, and a visitor's page pays; both are in Chromium.

import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { PAY_TO, test } from './support/paid-relay.ts'
import { openPayer } from './support/payer-page.ts'

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
