// The documentation at `/docs` of a relay, in Chromium: under the policy of the relay's pages, without third parties, with search, and
// readable without scripts.

import type { Page } from '@playwright/test'
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'
import { layoutShift, openWeb, WIDTHS_PX } from './support/relay-page.ts'

/** The first page, one with code and tables, the largest table, and one with a picture. */
const PAGES = [
  '/docs/',
  '/docs/guide/publish/',
  '/docs/operate/settings/',
  '/docs/internals/architecture/',
] as const
const HEIGHT_PX = 844

test.beforeAll(() => buildDocumentation({ hasReference: false }))

test('the pages fit each screen, pass axe-core, and ask nobody but the relay', async ({ browser, relay }) => {
  const context = await browser.newContext()
  const strangers: string[] = []
  context.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== relay.url)
      strangers.push(request.url())
  })
  const { page, errors } = await openWeb(context, `${relay.url}/docs`)
  for (const path of PAGES) {
    await page.goto(`${relay.url}${path}`)
    expect(await layoutShift(page), path).toBeLessThan(0.02)
    for (const width of atDepth<readonly number[]>(WIDTHS_PX, [WIDTHS_PX[0], WIDTHS_PX[2]]))
      await expectWidth(page, width)
    await expectDocumentAccessible(page)
  }
  expect(strangers).toEqual([])
  expect(errors).toEqual([])
  await context.close()
})

test('the search finds a word, and leads to its section', async ({ browser, relay }) => {
  const context = await browser.newContext()
  const { page, errors } = await openWeb(context, `${relay.url}/docs/`)
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('allowCanonicalFallback')
  await expect(page.getByRole('dialog').getByRole('status')).toContainText(/^\d+ pages?$/)
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('dialog').getByRole('link', { name: 'publish', exact: true })).toBeFocused()
  await expectDocumentAccessible(page)
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /^Options/ })
    .click()
  await expect(page).toHaveURL(/\/docs\/guide\/publish\/#options$/)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('publish')
  expect(errors).toEqual([])
  await context.close()
})

test('code and the page itself can be copied', async ({ browser, relay }) => {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = await openWeb(context, `${relay.url}/docs/guide/publish/`)
  const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText())
  await page.getByRole('button', { name: 'Copy to clipboard' }).first().click()
  await expect.poll(clipboard).toMatch(/^import \{ publish \} from '@svc\/sdk-browser'\n\nconst site/)
  await page.getByRole('button', { name: 'Copy as Markdown' }).click()
  await expect.poll(clipboard).toMatch(/^# publish\n/)
  await context.close()
})

test('tabs show one way, are chosen by keyboard, and change the others of the page', async ({
  browser,
  relay,
}) => {
  const context = await browser.newContext()
  const { page, errors } = await openWeb(context, `${relay.url}/docs/guide/access/`)
  const [first, second] = [page.locator('code-tabs').nth(0), page.locator('code-tabs').nth(1)]
  await expect(first.getByRole('tabpanel', { name: 'JavaScript' })).toContainText('await publish({')
  await expect(first.getByRole('tabpanel')).toHaveCount(1)
  await first.getByRole('tab', { name: /^svc$/ }).click()
  await expect(first.getByRole('tabpanel', { name: /^svc$/ })).toContainText('svc expose 3000')
  await expect(second.getByRole('tabpanel', { name: /^svc$/ })).toContainText('svc share')
  await page.keyboard.press('ArrowLeft')
  await expect(first.getByRole('tabpanel', { name: 'JavaScript' })).toBeVisible()
  await expectDocumentAccessible(page)
  expect(errors).toEqual([])
  await context.close()
})

wholeOnly(test, 'appearance')(
  'an address without a page has the menu, the search, and where to begin',
  async ({ browser, relay }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    expect((await page.goto(`${relay.url}/docs/guide/nothing`))?.status()).toBe(404)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('There is no page here')
    await expectDocumentAccessible(page)
    await page.getByRole('main').getByRole('link', { name: 'Recipes' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Recipes')
    await context.close()
  },
)

wholeOnly(test, 'appearance')(
  'a picture says what it shows, comes from the relay, and scrolls on a phone',
  async ({ browser, relay }) => {
    const context = await browser.newContext({ viewport: { width: 390, height: HEIGHT_PX } })
    const { page, errors } = await openWeb(context, `${relay.url}/docs/internals/architecture/`)
    const picture = page.getByRole('img', { name: /^A visitor.s TCP connection is joined/ })
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(740)
    const region = page.getByRole('region', { name: 'Picture 1' })
    expect(await region.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBeGreaterThan(100)
    expect(errors).toEqual([])
    await context.close()
  },
)

wholeOnly(test, 'appearance')('the dark colours are kept from page to page', async ({ browser, relay }) => {
  const context = await browser.newContext({ colorScheme: 'light' })
  const { page } = await openWeb(context, `${relay.url}/docs/`)
  await page.getByRole('combobox', { name: 'Select theme' }).first().selectOption('dark')
  await page.getByRole('link', { name: 'Install', exact: true }).first().click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Install')
  expect(await ground(page)).toBe('rgb(21, 23, 26)')
  await context.close()
})

test('everything can be read without scripts: text, menu, code, and the colours of the system', async ({
  browser,
  relay,
}) => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    colorScheme: 'light',
    viewport: { width: 390, height: HEIGHT_PX },
  })
  const page = await context.newPage()
  await page.goto(`${relay.url}/docs/guide/publish/`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('publish')
  await expect(page.locator('pre').first()).toContainText('await publish({')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Webhooks')
  await context.close()
})

test("the relay's pages lead to it, and it leads back", async ({ browser, relay }) => {
  const context = await browser.newContext()
  const { page } = await openWeb(context, `${relay.url}/`)
  await page.getByRole('link', { name: 'Docs' }).click()
  await expect(page).toHaveURL(`${relay.url}/docs/`)
  await page.getByRole('link', { name: 'This relay' }).first().click()
  await expect(page).toHaveURL(`${relay.url}/`)
  await context.close()
})

test('programs find the index and the Markdown of each page', async ({ visitor, relay }) => {
  await visitor.goto(`${relay.url}/docs/`)
  const read = (path: string): Promise<string> =>
    visitor.evaluate(async (path) => await (await fetch(path)).text(), path)
  const index = await read('/docs/llms.txt')
  const links = [...index.matchAll(/\]\((\/docs\/[^)]+\.md)\)/g)].map(([, link]) => `${link}`)
  expect(links.length).toBeGreaterThan(50)
  for (const link of links) expect(await read(link), link).toMatch(/^# /)
  expect(await read('/docs/llms-full.txt')).toContain('# The protocol')
})

async function expectWidth(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHT_PX })
  expect(await page.evaluate(() => document.documentElement.scrollWidth), page.url()).toBe(width)
}

function ground(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}

/** The site looks which code scrolls a moment after each change of the width. */
async function expectDocumentAccessible(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(scrollsWithoutFocus), page.url()).toBe(0)
  await expectAccessible(page)
}

/** Runs in the page. @returns how much of the code scrolls, but not by keyboard */
function scrollsWithoutFocus(): number {
  const scrolls = ({ scrollWidth, clientWidth, tabIndex }: HTMLElement): boolean =>
    scrollWidth > clientWidth && tabIndex < 0
  return [...document.querySelectorAll('pre')].filter(scrolls).length
}
