// The example's journey: it publishes itself, counts its visitors, stops, starts again and keeps its address.

import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { exampleTest, expectStrictPolicy, testAppearance } from './support/example-page.ts'

const hello = exampleTest('hello')
const state = (page: Page) => page.locator('#state')

hello(
  'it counts its visits and lists the requests',
  async ({ example: { page, errors, address }, relay, visitor }) => {
    const url = await address()
    const name = await page.getByLabel('Name').inputValue()
    expect(url).toBe(relay.url.replace('relay.', `${name}.relay.`))
    await expect(page.locator('#visits')).toHaveText('0')

    await visitor.goto(url)
    await expect(visitor.getByRole('heading')).toHaveText('Hello, visitor 1')
    await expect(page.locator('#visits')).toHaveText('1')
    expect(String(await curl(relay.caFile, url))).toContain('Hello, visitor 2')
    expect(JSON.parse(String(await curl(relay.caFile, `${url}/api`)))).toEqual({ visits: 2 })
    await curl(relay.caFile, `${url}/%3Cb%3E?a=1`)

    await expect(page.locator('#visits')).toHaveText('2')
    const paths = page.locator('#requests tbody td:last-child')
    await expect(paths).toHaveText(['/%3Cb%3E?a=1', '/api', '/', '/'])
    // REQUESTS_MAX
    await curl(relay.caFile, `${url}/api?[1-12]`)
    await expect(paths.first()).toHaveText('/api?12')
    await expect(paths).toHaveCount(10)
    expect(errors).toEqual([])
  },
)

wholeOnly(hello, 'variant')(
  'it stops, and publishes again at the same address',
  async ({ example: { page, errors, address }, relay }) => {
    const url = await address()
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(state(page)).toHaveText('closed')
    await expect(page.locator('#url')).toBeHidden()
    await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')

    await page.getByRole('button', { name: 'Publish' }).click()
    expect(await address()).toBe(url)
    expect(String(await curl(relay.caFile, url))).toContain('Hello, visitor 1')
    await page.reload()
    expect(await address()).toBe(url)
    expect(String(await curl(relay.caFile, url))).toContain('Hello, visitor 1')
    expect(errors).toEqual([])
  },
)

wholeOnly(hello, 'variant')(
  'it takes another name, and says so when that belongs to somebody else',
  async ({ example: { page, address }, relay, tenant }) => {
    await tenant.evaluate(async (relayUrl) => {
      await svc.publish({ relay: relayUrl, name: 'taken', fetch: () => new Response('mine') })
    }, relay.url)
    await address()
    for (const [name, outcome] of [
      ['taken', 'closed'],
      ['my-own', 'online'],
    ] as const) {
      if (await page.getByRole('button', { name: 'Stop' }).isVisible())
        await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Name').press('Enter')
      await expect(state(page)).toHaveText(outcome)
      await expect(page.locator('#error')).toHaveText(
        outcome === 'closed' ? /taken|another|registered|owned/ : '',
      )
    }
    expect(await address()).toBe(relay.url.replace('relay.', 'my-own.relay.'))
  },
)

wholeOnly(hello, 'variant')('its address can be copied', async ({ example: { page, address } }) => {
  const url = await address()
  expect(await expectCopies(page)).toEqual([url])
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
})

testAppearance(hello, 'hello', 'Hello', async ({ page, visitor, url, relay }) => {
  await curl(relay.caFile, `${url}/a/rather/long/path/${'that-does-not-end-'.repeat(8)}`)
  const answer = await visitor.goto(url)
  expectStrictPolicy(answer?.headers()['content-security-policy'])
  await expect(page.locator('#visits')).toHaveText('1')
})
