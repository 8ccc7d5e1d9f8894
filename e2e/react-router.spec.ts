// The example's journey: a React Router app, built with the preset, with an action, a loader, cookies and hydration.

import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, testAppearance } from './support/example-page.ts'
import {
  expectAssets,
  expectForeignFormRefused,
  expectLogin,
  expectLoginByCurl,
} from './support/login-journey.ts'

const reactRouter = exampleTest('react-router')

wholeOnly(reactRouter, 'variant')(
  'a visitor logs in, is greeted after a reload, and logs out',
  async ({ example, visitor }) => {
    const url = await example.address()
    await expectLogin(visitor, url)
    expect(example.errors).toEqual([])
  },
)

wholeOnly(reactRouter, 'variant')(
  'curl logs in, and a form of another site does not',
  async ({ example: { address }, relay }) => {
    const url = await address()
    await expectLoginByCurl(relay.caFile, url, { login: '/?index', logout: '/?index' })
    await expectForeignFormRefused(relay.caFile, `${url}/?index`, '400')
  },
)

wholeOnly(reactRouter, 'variant')(
  'its assets come from the bundle',
  async ({ example: { address }, relay, visitor }) => {
    await expectAssets(visitor, relay.caFile, await address())
  },
)

testAppearance(reactRouter, 'react-router', 'React Router', async ({ visitor, url }) => {
  await visitor.goto(url)
})
