// The example's journey: a SvelteKit app, built with the adapter, with form actions, cookies and hydrated pages.

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

const sveltekit = exampleTest('sveltekit')

wholeOnly(sveltekit, 'variant')(
  'a visitor logs in, is greeted after a reload, and logs out',
  async ({ example, visitor }) => {
    const url = await example.address()
    const answer = await visitor.goto(url)
    expectStrictPolicy(answer?.headers()['content-security-policy'])
    await expectLogin(visitor, url)
    expect(example.errors).toEqual([])
  },
)

sveltekit('curl logs in, and a form of another site does not', async ({ example: { address }, relay }) => {
  const url = await address()
  await expectLoginByCurl(relay.caFile, url, { login: '/?/login', logout: '/?/logout' })
  await expectForeignFormRefused(relay.caFile, `${url}/?/login`, '403')
})

wholeOnly(sveltekit, 'variant')(
  'its assets come from the bundle, and a page of the build is sent as it is',
  async ({ example: { address }, relay, visitor }) => {
    const url = await address()
    await expectAssets(visitor, relay.caFile, url)
    await visitor.goto(`${url}/about`)
    await expect(visitor.getByRole('heading')).toHaveText('About')
    const head = String(await curl(relay.caFile, '-I', `${url}/about`)).toLowerCase()
    expect(head).toContain('\r\ncontent-type: text/html; charset=utf-8\r\n')
    expect(head).toContain('\r\ncache-control: no-cache\r\n')
  },
)

testAppearance(sveltekit, 'sveltekit', 'SvelteKit', async ({ visitor, url }) => {
  await visitor.goto(url)
})
