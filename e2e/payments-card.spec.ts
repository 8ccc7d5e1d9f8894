// The administration's card of payments: whom the relay pays them to, and what became of them.

import { facilitatorAt, usdcRequirements } from '../payment/src/index.ts'
import { curl } from '../tools/programs/curl.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import type { RunningSuiNode } from '../tools/sui-node/server.ts'
import { createTestWallet } from '../tools/sui-node/wallet.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { logIn, openSection } from './support/administration.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { ADMIN_TOKEN, PAY_TO, test } from './support/paid-relay.ts'
import { look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

wholeOnly(test, 'variant')(
  'says who gets payments, and counts them',
  async ({ context, chain, relay }, info) => {
    const { page, errors } = await openWeb(context, `${relay.url}/admin`)
    await logIn(page, ADMIN_TOKEN)
    await openSection(page, 'Payments')
    const card = page.getByRole('region', { name: 'Settled payments' })
    const tiles = page.locator('.tiles')
    await expect(card).toContainText('on Sui Testnet')
    await expect(card).toContainText(PAY_TO)
    await expect(tiles).toContainText(/Settled0since the relay started/)
    expect(await expectCopies(page)).toEqual([PAY_TO])

    await pay(relay, chain)
    await expect(tiles).toContainText(/Settled1since the relay started/)
    await look(page)
    await expectFits({ payments: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    expect(errors).toEqual([])
  },
)

/** Pays 0.01 USDC as a wallet does that has the relay prepare its transactions. */
async function pay(relay: TestRelay, chain: RunningSuiNode): Promise<void> {
  const wallet = createTestWallet()
  chain.node.chain.fund(wallet.address, 10_000n)
  const facilitator = facilitatorAt(`${relay.url}/api/x402`, { fetch: curlFetch(relay.caFile) })
  const paymentRequirements = usdcRequirements('sui:testnet', PAY_TO, '10000')
  const { paymentTransaction } = await facilitator.prepare({ sender: wallet.address, paymentRequirements })
  const { transaction } = paymentTransaction
  const signature = await wallet.signTransaction(transaction)
  const paymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: { transaction, signature },
  }
  const settled = await facilitator.settle({ x402Version: 2, paymentPayload, paymentRequirements })
  expect(settled).toMatchObject({ success: true, payer: wallet.address })
}

/** Node's own fetch trusts no CA of a test. */
function curlFetch(caFile: string): typeof fetch {
  return async (input, init) =>
    new Response(new Uint8Array(await curl(caFile, '--json', String(init?.body), String(input))))
}
