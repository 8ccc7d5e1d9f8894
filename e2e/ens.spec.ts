// People see ENS names and the relay's own name server: a badge at the list of sites, and the DS record in the administration.

import { freePort } from '../tools/network/free-port.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { logIn, openSection } from './support/administration.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { type NamedRelay, startNamedRelay } from './support/named-relay.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'

let named: NamedRelay

test.beforeAll(async ({ playwright }) => {
  named = await startNamedRelay(playwright.chromium, {
    ADMIN_TOKEN,
    ENS_GASLESS_ENABLED: 'true',
    PUBLIC_IPS: '127.0.0.1',
    DNS_ADDR: `127.0.0.1:${await freePort()}`,
  })
})
test.afterAll(async () => {
  await named?.close()
})

// biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
test('the list of sites has a badge', async ({}, info) => {
  const context = await named.browser.newContext()
  const { page, errors } = await openWeb(context, `${named.url}/sites`)
  await expect(page.getByRole('heading', { name: 'Sites ENS names' })).toBeVisible()
  await expectAccessible(page)
  await expectFits({ ens: page }, info, WIDTHS_PX)
  expect(errors).toEqual([])
  await context.close()
})

wholeOnly(test, 'variant')(
  'the administration has the DS record, with what to do with it',
  // biome-ignore lint/correctness/noEmptyPattern: as above
  async ({}, info) => {
    const context = await named.browser.newContext()
    const { page, errors } = await openWeb(context, `${named.url}/admin`)
    const answer = await page.evaluate(async () => (await (await fetch('/sdk/domain')).json()).data.ens)
    await logIn(page, ADMIN_TOKEN)
    await openSection(page, 'DNS')
    const card = page.getByRole('region', { name: 'Records of this relay' })
    await expect(card.getByText(answer.ds_record)).toBeVisible()
    await expect(card).toContainText('needs the name servers ns1.relay.test and ns2.relay.test')
    await expect(card).toContainText('embedded')
    await expect(card).toContainText('pending')
    await expect(card).toContainText(answer.address)
    expect(await expectCopies(page)).toEqual([answer.ds_record])
    await expectAccessible(page)
    await expectFits({ 'dns-card': page }, info, WIDTHS_PX)
    expect(errors).toEqual([])
    await context.close()
  },
)
