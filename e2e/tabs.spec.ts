// The relay's pages and examples share one web origin: each site of theirs lives by itself, and outlives a reload.
import type { BrowserContext, Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'

const test = base.extend<{ context: BrowserContext }>({
  context: async ({ browser }, use) => {
    const context = await browser.newContext()
    await use(context)
    await context.close()
  },
})

interface Kind {
  name: string
  path: string
  state: string
  link: string
  publish?: string
}

const example = (name: string): Kind => ({
  name: `example ${name}`,
  path: `/examples/${name}/`,
  state: '#state',
  link: '#url',
})
const landing = (publish: string): Kind => ({
  name: `landing page, ${publish}`,
  path: '/',
  state: '.publish .state',
  link: '.address a',
  publish,
})

async function online(page: Page, { state, link }: Kind): Promise<string> {
  await expect(page.locator(state)).toHaveText('online')
  return (await page.locator(link).textContent()) ?? ''
}

async function open(context: BrowserContext, relayUrl: string, kind: Kind): Promise<[Page, string]> {
  const page = await context.newPage()
  await page.goto(relayUrl + kind.path)
  if (kind.publish !== undefined) {
    await page.getByRole('radio', { name: kind.publish }).check()
    await page.getByRole('button', { name: 'Publish' }).click()
  }
  return [page, await online(page, kind)]
}

const FIRST: Kind = example('hello')
/** Those of the landing page, those that keep their names as long as the tab, and those that share code with others. */
const OTHERS: Kind[] = [landing('Note'), landing('Webhooks'), example('share-folder'), example('chat')]

for (const kind of [FIRST, ...OTHERS]) {
  const oneOf = kind === FIRST ? test : wholeOnly(test, 'variant')
  oneOf(
    `${kind.name}: a second tab leaves the first alone, and a reload keeps the address of each`,
    async ({ context, relay }) => {
      const [first, url] = await open(context, relay.url, kind)
      const [second, other] = await open(context, relay.url, kind)
      expect(other).not.toBe(url)
      for (const [page, address] of [
        [second, other],
        [first, url],
      ] as const) {
        await page.reload()
        expect(await online(page, kind)).toBe(address)
        await curl(relay.caFile, address)
      }
      expect(await online(second, kind)).toBe(other)
      await curl(relay.caFile, other)
    },
  )
}

/** The private keys that the relay's web origin keeps, as text. */
function storedKeys(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opened = indexedDB.open('@svc/sdk-browser')
      opened.onsuccess = () => resolve(opened.result)
      opened.onerror = () => reject(opened.error)
    })
    const all = database.transaction('identity').objectStore('identity').getAll()
    return await new Promise((resolve) => {
      all.onsuccess = () => resolve(all.result.map(String))
    })
  })
}

wholeOnly(test, 'variant')('pages of the origin have identities of their own', async ({ context, relay }) => {
  const kinds = [landing('Note'), landing('Webhooks'), example('hello'), example('service-worker')]
  let last: Page | undefined
  for (const kind of kinds) [last] = await open(context, relay.url, kind)
  const keys = await storedKeys(last!)
  expect([keys.length, new Set(keys).size]).toEqual([kinds.length, kinds.length])
})
