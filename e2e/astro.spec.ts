// The example's journey: an Astro site, built with the adapter, with a form, cookies, a script and prerendered pages.

import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectStrictPolicy, testAppearance } from './support/example-page.ts'
import {
  expectAssets,
  expectForeignFormRefused,
  expectLogin,
  expectLoginByCurl,
} from './support/login-journey.ts'

const astro = exampleTest('astro')

wholeOnly(astro, 'variant')(
  'a visitor logs in, is greeted after a reload, and logs out',
  async ({ example, visitor }) => {
    const url = await example.address()
    const answer = await visitor.goto(url)
    expectStrictPolicy(answer?.headers()['content-security-policy'])
    await expectLogin(visitor, url)
    expect(example.errors).toEqual([])
  },
)

wholeOnly(astro, 'variant')(
  'curl logs in, and a form of another site does not',
  async ({ example: { address }, relay }) => {
    const url = await address()
    await expectLoginByCurl(relay.caFile, url, { login: '/', logout: '/' })
    await expectForeignFormRefused(relay.caFile, `${url}/`, '403')
  },
)

wholeOnly(astro, 'variant')(
  'its assets come from the bundle; a page of the build is sent as it is, and one for what is not there',
  async ({ example: { address }, relay, visitor }) => {
    const url = await address()
    await expectAssets(visitor, relay.caFile, url)
    await visitor.getByRole('link', { name: 'About' }).click()
    await expect(visitor.getByRole('heading')).toHaveText('About')
    const answer = await visitor.goto(`${url}/none`)
    expect(answer?.status()).toBe(404)
    await expect(visitor.getByRole('heading')).toHaveText('Nothing is here')
    const head = String(await curl(relay.caFile, '-I', `${url}/about`)).toLowerCase()
    expect(head).toContain('\r\ncontent-type: text/html; charset=utf-8\r\n')
    expect(head).toContain('\r\ncache-control: no-cache\r\n')
  },
)

testAppearance(astro, 'astro', 'Astro', async ({ visitor, url }) => {
  await visitor.goto(url)
})
