// `/go/<name>` of a relay without discovery, in Chromium: a visitor who comes while the site is away waits in the page, which opens
// the site when it is back.

import { readFile } from 'node:fs/promises'
import { publish, type Site } from '@svc/sdk-node'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { look, openWeb } from './support/relay-page.ts'

/** The smallest screen, a phone and a desk. */
const WIDTHS_PX = [320, 390, 1440]
const IDENTITY = crypto.getRandomValues(new Uint8Array(32))

async function publishAt({ url, caFile }: TestRelay): Promise<Site> {
  return await publish({
    relay: url,
    name: 'returning',
    ca: await readFile(caFile, 'utf8'),
    identity: IDENTITY,
    fetch: (request) => new Response(`here: ${request.url.slice(request.url.indexOf('/', 8))}`),
  })
}

test('a visitor waits in the page, which opens the site when it is back', async ({ browser, relay }) => {
  const away = await publishAt(relay)
  await away.close()
  const context = await browser.newContext()
  const { page, errors } = await openWeb(context, `${relay.url}/go/returning/path?x=y#fragment`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('returning is not here right now')
  await expect(page.getByRole('status')).toContainText('opens the site when it is back')
  await expectFits({ go: page }, test.info(), WIDTHS_PX)
  await expectAccessible(page)
  const site = await publishAt(relay)
  await expect(async () => {
    await look(page).catch(() => {})
    await expect(page.locator('body')).toHaveText('here: /path?x=y', { timeout: 1_000 })
  }).toPass()
  expect(page.url()).toBe(`${site.url.replace(/\/$/, '')}/path?x=y#fragment`)
  // The browser itself logs the answers that say so.
  expect(errors.filter((error) => !error.includes('503'))).toEqual([])
  await site.close()
  await context.close()
})

test('what is no name of a site is said in the same design', async ({ browser, relay }) => {
  const context = await browser.newContext()
  const { page } = await openWeb(context, `${relay.url}/go/no%2Fname`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('No site has such an address')
  await expectFits({ go: page }, test.info(), WIDTHS_PX)
  await expectAccessible(page)
  await context.close()
})
