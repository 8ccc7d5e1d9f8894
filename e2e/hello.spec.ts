// The example's journey: it publishes itself, counts who comes, stops, starts again and keeps its address.
import type { Page } from '@playwright/test'
import { expect, test } from './fixtures.ts'
import { curl } from './harness/curl.ts'

interface Hello {
  page: Page
  /** What the page's console and its uncaught errors said. */
  errors: string[]
}

const hello = test.extend<{ hello: Hello }>({
  hello: async ({ browser, relay }, use) => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(`${relay.url}/examples/hello/`)
    await use({ page, errors })
    await context.close()
  },
})

const state = (page: Page) => page.locator('#state')
const address = async (page: Page): Promise<string> => {
  await expect(state(page)).toHaveText('online')
  return (await page.locator('#url').textContent()) ?? ''
}

hello('it counts its visits and lists the requests', async ({ hello: { page, errors }, relay, visitor }) => {
  const url = await address(page)
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
  expect(errors).toEqual([])
})

hello('it stops, and publishes again at the same address', async ({ hello: { page, errors }, relay }) => {
  const url = await address(page)
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(state(page)).toHaveText('closed')
  await expect(page.locator('#url')).toBeHidden()
  await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')

  await page.getByRole('button', { name: 'Publish' }).click()
  expect(await address(page)).toBe(url)
  expect(String(await curl(relay.caFile, url))).toContain('Hello, visitor 1')
  await page.reload()
  expect(await address(page)).toBe(url)
  expect(String(await curl(relay.caFile, url))).toContain('Hello, visitor 1')
  expect(errors).toEqual([])
})

hello(
  'it takes another name, and says so when that belongs to somebody else',
  async ({ hello: { page }, relay, tenant }) => {
    await tenant.evaluate(async (relayUrl) => {
      await svc.publish({ relay: relayUrl, name: 'taken', fetch: () => new Response('mine') })
    }, relay.url)
    await address(page)
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
    expect(await address(page)).toBe(relay.url.replace('relay.', 'my-own.relay.'))
  },
)

hello('its address can be copied', async ({ hello: { page } }) => {
  const url = await address(page)
  await page.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url)
})

for (const [width, height] of [
  [390, 844],
  [1280, 800],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    hello(`it fits ${width} px, ${colorScheme}`, async ({ hello: { page }, relay }, testInfo) => {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      const url = await address(page)
      await curl(relay.caFile, `${url}/a/rather/long/path/${'that-does-not-end-'.repeat(8)}`, url)
      await expect(page.locator('#visits')).toHaveText('1')
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(21, 23, 26)' : 'rgb(246, 245, 242)')
      await testInfo.attach('screenshot', { body: await page.screenshot(), contentType: 'image/png' })
      await page.screenshot({ path: testInfo.outputPath(`hello-${width}-${colorScheme}.png`) })
    })
  }
}

hello('it runs no inline script, and its index leads to it', async ({ hello: { page }, relay }) => {
  expect(await page.locator('script:not([src])').count()).toBe(0)
  await page.goto(relay.url)
  await page.getByRole('link', { name: 'Hello' }).click()
  await expect(page).toHaveURL(`${relay.url}/examples/hello/`)
  await expect(state(page)).toHaveText('online')
})
