// `/go/` of a relay leads visitors to a site wherever it is, by a page that names the host of another relay: three real relays, a site
// that moves between them, Chromium and curl.

import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { publish, type Site } from '@svc/sdk-node'
import { curl } from '../tools/programs/curl.ts'
import { startRelayGroup } from '../tools/relay/relay-group.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, useBrowser } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { look, openWeb } from './support/relay-page.ts'

const HOSTS = ['first.localhost', 'second.localhost', 'third.localhost']
const IDENTITY = crypto.getRandomValues(new Uint8Array(32))
/** The smallest screen, a phone and a desk. */
const WIDTHS_PX = [320, 390, 1440]

interface Group {
  relays: TestRelay[]
  /** The authorities of all of them. */
  caFile: string
}

const test = base.extend<object, { group: Group }>({
  group: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const relays = await startRelayGroup(HOSTS)
      const caFile = path.join(path.dirname(relays[0]!.caFile), 'all.pem')
      const authorities = await Promise.all(relays.map((relay) => readFile(relay.caFile, 'utf8')))
      await writeFile(caFile, authorities.join('\n'))
      const [first] = relays as [TestRelay]
      const known = (): Promise<string> => curl(caFile, `${first.url}/discovery`).then(String, String)
      for (const { url } of relays) await expect.poll(known).toContain(url)
      await use({ relays, caFile })
      await rm(caFile, { force: true })
      for (const relay of relays.toReversed()) await relay.stop()
    },
    { scope: 'worker' },
  ],
  browser: [
    ({ playwright, group: { relays } }, use) =>
      useBrowser(
        playwright,
        relays.map(({ caFile }) => caFile),
        use,
      ),
    { scope: 'worker' },
  ],
})

async function publishAt({ url, caFile }: TestRelay): Promise<Site> {
  return await publish({
    relay: url,
    name: 'moving',
    ca: await readFile(caFile, 'utf8'),
    identity: IDENTITY,
    fetch: (request) =>
      new Response(`${new URL(url).hostname} ${request.url.slice(request.url.indexOf('/', 8))}`),
  })
}

const labelOf = ({ canonicalUrl }: Site): string => new URL(canonicalUrl).hostname.split('.')[0]!

wholeOnly(test, 'faults')(
  'the same link of one relay leads a browser and curl to a site that moves, and one whose relay is killed',
  async ({ browser, group: { relays, caFile } }) => {
    const [first, second, third] = relays as [TestRelay, TestRelay, TestRelay]
    let site = await publishAt(second)
    const link = `${first.url}/go/${labelOf(site)}/path?x=y`
    // For 5 s after the last look, the relay leads where the site was.
    const visited = async (): Promise<string> => {
      const text = await curl(caFile, link).then(String, String)
      const [, url] = /id="continue"[^>]* href="([^"]+)"/.exec(text) ?? []
      return url === undefined ? text : await curl(caFile, url).then(String, String)
    }
    const context = await browser.newContext()
    const page = await context.newPage()
    await expect.poll(visited).toBe('second.localhost /path?x=y')
    await page.goto(`${link}#fragment`)
    // Another relay's host: the visitor sees which before going there.
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('moving is at another relay')
    expect(new URL(page.url()).origin).toBe(first.url)
    await expectFits({ go: page }, test.info(), WIDTHS_PX)
    await expectAccessible(page)
    const go = page.getByRole('link', { name: `Continue to ${new URL(site.canonicalUrl).host}` })
    await go.click()
    expect(page.url()).toBe(`${site.canonicalUrl.replace(/\/$/, '')}/path?x=y#fragment`)
    await expect(page.locator('body')).toHaveText('second.localhost /path?x=y')

    await site.close()
    site = await publishAt(third)
    await expect.poll(visited).toBe('third.localhost /path?x=y')
    await page.goto(link)
    await page.getByRole('link', { name: 'Continue to' }).click()
    await expect(page.locator('body')).toHaveText('third.localhost /path?x=y')

    // On two relays at once; then one of them is killed.
    const twice = await publishAt(second)
    process.kill(third.pid, 'SIGKILL')
    await third.ended
    await expect.poll(visited).toBe('second.localhost /path?x=y')
    await page.goto(link)
    await page.getByRole('link', { name: 'Continue to' }).click()
    await expect(page.locator('body')).toHaveText('second.localhost /path?x=y')
    await site.close()

    // Nobody has it any more: a page waits for it, and goes there when it is back.
    await twice.close()
    await expect.poll(visited).toContain('moving is not here right now')
    const { page: waiting, errors } = await openWeb(context, link)
    await expect(waiting.getByRole('heading', { level: 1 })).toHaveText('moving is not here right now')
    await expect(waiting.getByRole('status')).toContainText('opens the site when it is back')
    await expect(waiting.getByRole('link', { name: 'Look again' })).toHaveAttribute('href', /^\/go\/moving-/)
    const others = waiting.getByRole('listitem').getByRole('link')
    await expect(others).toHaveCount(2)
    await expect(others.filter({ hasText: new URL(second.url).host })).toHaveAttribute(
      'href',
      link.replace(first.url, second.url),
    )
    await expectFits({ go: waiting }, test.info(), WIDTHS_PX)
    await expectAccessible(waiting)
    const back = await publishAt(second)
    const onward = waiting.getByRole('link', { name: 'Continue to' })
    await expect(async () => {
      await look(waiting)
      await expect(onward).toBeVisible({ timeout: 1_000 })
    }).toPass()
    await onward.click()
    expect(waiting.url()).toBe(`${back.canonicalUrl.replace(/\/$/, '')}/path?x=y`)
    await expect(waiting.locator('body')).toHaveText('second.localhost /path?x=y')
    // The browser itself logs the answers that say so.
    expect(errors.filter((error) => !error.includes('503'))).toEqual([])
    await back.close()
    await context.close()
  },
)

test('without scripts the page says what to do, and its link works when the site is back', async ({
  browser,
  group: { relays },
}) => {
  const [first, second] = relays as [TestRelay, TestRelay]
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const away = await publishAt(second)
  await away.close()
  const link = `${first.url}/go/${labelOf(away)}`
  await expect(async () => {
    await page.goto(link)
    await expect(page.getByRole('status')).toContainText('Scripts are off here', { timeout: 1_000 })
  }).toPass()
  const site = await publishAt(second)
  const onward = page.getByRole('link', { name: 'Continue to' })
  await expect(async () => {
    await page.getByRole('link', { name: 'Look again' }).click()
    await expect(onward).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await onward.click()
  await expect(page.locator('body')).toHaveText('second.localhost /')
  await site.close()
  await context.close()
})

wholeOnly(test, 'variant')(
  'the example hello shows links of each relay that lead to it',
  async ({ browser, group: { relays } }) => {
    const [first, , third] = relays as [TestRelay, TestRelay, TestRelay]
    const context = await browser.newContext()
    const { page, errors } = await openWeb(context, `${first.url}/examples/hello/`)
    await expect(page.locator('#state')).toHaveText('online')
    const links = page.getByRole('region', { name: 'Wherever it is' }).getByRole('link')
    const urls = relays.filter((relay) => relay !== third).map(({ url }) => `${url}/go/`)
    for (const url of urls) {
      const opened = context.waitForEvent('page')
      await links.filter({ hasText: url }).click()
      const visitor = await opened
      if (!url.startsWith(first.url)) await visitor.getByRole('link', { name: 'Continue to' }).click()
      await expect(visitor.getByRole('heading')).toContainText('Hello, visitor')
    }
    await expectFits({ hello: page }, test.info(), WIDTHS_PX)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(page.getByRole('region', { name: 'Wherever it is' })).toBeHidden()
    expect(errors).toEqual([])
    await context.close()
  },
)
