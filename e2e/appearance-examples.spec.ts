// The examples and their visitors' pages look as in their pictures: `npm run e2e -- appearance --update` makes them anew.
import type { Page } from '@playwright/test'
import { expect } from './fixtures.ts'
import { looks, READER } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'

interface Shown {
  page: Page
  visitor: Page
}

/** Prepares an example for its picture. Its visitors have pictures of their own where no other spec has one. */
const EXAMPLES: Readonly<Record<string, (shown: Shown) => Promise<void>>> = {
  hello: async ({ page }) => expect(page.locator('#visits')).toHaveText('1'),
  'share-folder': async ({ page, visitor }) => {
    const files = ['notes.txt', `${'a long name of a file '.repeat(6)}.txt`, 'c.txt'].map((name) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from('text'),
    }))
    await page.getByLabel('Choose files').setInputFiles(files)
    await expect(page.locator('#count')).toHaveText('3 shared')
    await visitor.reload()
    // The time of a file is that of its making.
    await visitor.locator('.time').evaluateAll((cells) => {
      for (const cell of cells) if (cell.matches('td')) cell.innerHTML = '<time>then</time>'
    })
  },
  'webhook-inspector': async ({ page }) => {
    await expect(page.getByRole('list', { name: 'Requests' }).getByRole('button')).toHaveCount(1)
  },
  chat: async ({ page, visitor }) => {
    await visitor.getByLabel('Your name').fill('Ann')
    await visitor.getByRole('button', { name: 'Join' }).click()
    await expect(page.locator('#people li')).toHaveCount(2)
    await page.getByLabel('Message', { exact: true }).fill('Welcome to my tab')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect(visitor.locator('#messages li')).toHaveCount(1)
  },
  'service-worker': async ({ page }) => expect(page.locator('#worker')).toContainText('A service worker'),
  hono: async ({ visitor }) => {
    await visitor.getByLabel('Your name').fill('Ann')
    await visitor.getByLabel('What you want to say').fill('It is nice here.')
    await visitor.getByRole('button', { name: 'Sign' }).click()
    await expect(visitor.locator('article')).toHaveCount(1)
  },
  h3: async ({ page, visitor }) => {
    for (const [title, link] of [
      ['My garden', 'https://example.com/garden'],
      ['A title that is longer than the line of a phone', `https://example.com/${'long'.repeat(20)}`],
    ]) {
      await page.getByLabel('Title').fill(title!)
      await page.getByLabel('Address', { exact: true }).fill(link!)
      await page.getByRole('button', { name: 'Add' }).click()
    }
    await expect(page.locator('#links li')).toHaveCount(2)
    await visitor.reload()
  },
  paid: async ({ page, visitor }) => {
    await visitor.getByRole('button', { name: 'Pay 1 cent' }).click()
    await expect(visitor.locator('#answer')).toBeVisible()
    await expect(page.locator('#earned')).toHaveText('1 cent')
  },
  sveltekit: async () => {},
  'react-router': async () => {},
  astro: async () => {},
}

looks('the index, and a source', async ({ page, relay }) => {
  await page.goto(`${relay.url}/examples/`)
  await expectLook(page, 'examples', { fullPage: true })
  await page.goto(`${relay.url}/examples/hello/source/`)
  await expect(page.locator('pre').first()).toBeVisible()
  await expectLook(page, 'example-source')
})

for (const [name, happens] of Object.entries(EXAMPLES))
  looks(`the example ${name}`, async ({ page, relay }) => {
    await page.goto(`${relay.url}/examples/${name}/`)
    const state = page.locator('#state')
    await expect(state).toHaveText('online')
    // The page chose a name by chance.
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(state).toHaveText('closed')
    await page.getByLabel('Name').fill(`my-${name}`)
    await page.getByRole('button', { name: 'Publish' }).click()
    await expect(state).toHaveText('online')
    const context = await page.context().browser()!.newContext(READER)
    const visitor = await context.newPage()
    await visitor.goto((await page.locator('#url').textContent()) ?? '')
    await happens({ page, visitor })
    await expectLook(page, `example-${name}`)
    await expectLook(visitor, `example-${name}-visitor`)
    await context.close()
  })
