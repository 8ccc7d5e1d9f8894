// Pages and their states look as in the pictures in e2e/baselines; `npm run e2e -- appearance --update` makes those anew.

import { readFile } from 'node:fs/promises'
import type { BrowserContext, Page } from '@playwright/test'
import type { DiscoveryResponse, RelayDescriptor } from '@svc/protocol'
import { publish, type Site } from '@svc/sdk-node'
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { freePort } from '../tools/network/free-port.ts'
import { curl } from '../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { logIn, openSection, openSite } from './support/administration.ts'
import { startAgent } from './support/agent-process.ts'
import { expectLook, whyNotComparable } from './support/baselines.ts'
import { documents, openDocument } from './support/documents.ts'

const ADMIN_TOKEN = 'a-long-random-value'
/** Published in this order, each with an identity of its own that stays the same. */
const NAMES = ['tea', 'a-rather-long-name-too', 'notes', 'webhooks', 'a-name-of-22-characters'.slice(0, 22)]

const test = base.extend<{ context: BrowserContext; page: Page }>({
  // Each test has a relay of its own, on which nothing has happened.
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  relay: async ({}, use) => {
    const relay = await startTestRelay({
      env: { ADMIN_TOKEN, DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' },
    })
    await use(relay)
    await relay.stop()
  },
  context: async ({ browser }, use) => {
    const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' })
    await use(context)
    await context.close()
  },
  page: async ({ context }, use) => use(await context.newPage()),
})

const looks = wholeOnly(test, 'appearance')

test.beforeEach(({ browser }, info) => {
  const why = whyNotComparable(browser, info)
  test.skip(why !== undefined, why)
})

looks('landing: idle, an error, online', async ({ page, relay, visitor }) => {
  await page.goto(relay.url)
  await expect(page.getByRole('button', { name: 'Publish' })).toBeVisible()
  await expectLook(page, 'landing', { fullPage: true })
  await page.getByRole('textbox', { name: 'Name' }).fill('-no')
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveAccessibleDescription(/1 to 22 letters/)
  await expectLook(page, 'landing-error')
  await page.getByRole('textbox', { name: 'Name' }).fill('my-tab')
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(page.locator('.publish .state')).toHaveText('online')
  await visitor.goto((await page.locator('.address a').getAttribute('href'))!)
  await expect(page.locator('.count')).toHaveText('1')
  await expectLook(page, 'landing-online')
})

looks('sites: none, one, many', async ({ page, relay }) => {
  await page.goto(`${relay.url}/sites`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sites')
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'sites-empty')
  const sites = await publishSites(relay, NAMES.slice(0, 1))
  await page.reload()
  await expect(page.getByRole('listitem').filter({ hasText: 'tea.' })).toBeVisible()
  await expectLook(page, 'sites-one')
  sites.push(...(await publishSites(relay, NAMES.slice(1))))
  await page.reload()
  await expect(page.locator('.site')).toHaveCount(NAMES.length)
  await expectLook(page, 'sites-many')
  await closeAll(sites)
})

looks('relays, the CA, what is not there', async ({ page, relay }) => {
  const { data }: { data: DiscoveryResponse } = JSON.parse(
    String(await curl(relay.caFile, `${relay.url}/discovery`)),
  )
  const [own] = data.relays as [RelayDescriptor]
  // Nobody listens there.
  const away = [1, 2].map((port) => ({ ...own, api_https_addr: `https://127.0.0.1:${port}` }))
  await page.route('**/discovery', (route) =>
    route.fulfill({ json: { ok: true, data: { ...data, relays: [own, ...away] } } }),
  )
  await page.goto(`${relay.url}/relays`)
  await expect(page.getByText('does not answer')).toHaveCount(2)
  await expectLook(page, 'relays')
  await page.goto(`${relay.url}/ca`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Trust this relay')
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'ca')
  await page.goto(`${relay.url}/nothing`)
  await expectLook(page, 'not-found')
})

looks('administration', async ({ page, relay }) => {
  const sites = await publishSites(relay, NAMES)
  await page.goto(`${relay.url}/admin`)
  await expectLook(page, 'admin-login')
  await logIn(page, ADMIN_TOKEN)
  await expect(page.locator('canvas')).toHaveCount(3)
  await expectLook(page, 'admin-overview')
  await openSection(page, 'Sites')
  await expect(page.locator('.site-row')).toHaveCount(NAMES.length)
  await expectLook(page, 'admin-sites')
  await openSite(page, 'tea')
  await expect(page.locator('canvas')).toHaveCount(2)
  await expectLook(page, 'admin-site')
  await openSection(page, 'Settings')
  await page.getByText('With approval').click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Yes, do it' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await openSection(page, 'Access')
  await expect(page.getByRole('button', { name: 'Approve: tea' })).toBeVisible()
  await expectLook(page, 'admin-queue')
  await openSection(page, 'History')
  await expect(page.getByRole('region', { name: 'Recent changes' }).getByRole('listitem')).toHaveCount(1)
  await expectLook(page, 'admin-history')
  await closeAll(sites)
})

looks('documents that the relay and the SDKs write', async ({ page }) => {
  const { away, signIn, listing, knock, checkout } = await documents()
  for (const [name, answer] of Object.entries({ away, signIn, listing, knock, checkout })) {
    await openDocument(page, answer!)
    await expectLook(page, `document-${name}`)
    await page.unrouteAll()
  }
})

looks("the agent's page", async ({ page, relay }) => {
  const agent = await startAgent(
    `relay = "${relay.url}"\nca = "${relay.caFile}"\n\n[agent]\ncontrol_addr = "127.0.0.1:${await freePort()}"\n\n[[tunnel]]\nname = "shop"\nhttp = 9\n`,
  )
  await page.goto(await agent.pageWithTicket())
  await expect(page.getByRole('region', { name: /^shop\b/ }).locator('.state')).toHaveText('online')
  await expectLook(page, 'agent')
  await agent.stop()
})

looks('the examples and the documentation', async ({ page, relay }) => {
  await buildDocumentation({ hasReference: false })
  await page.goto(`${relay.url}/examples/`)
  await expectLook(page, 'examples')
  await page.goto(`${relay.url}/docs/`)
  await page.waitForLoadState('networkidle')
  await expectLook(page, 'docs')
})

async function publishSites({ url, caFile }: TestRelay, names: string[]): Promise<Site[]> {
  const ca = await readFile(caFile, 'utf8')
  const sites: Site[] = []
  for (const name of names) {
    const identity = new Uint8Array(32).fill(NAMES.indexOf(name) + 1)
    const metadata = {
      description:
        name.length > 20 ? 'A description that is longer than a line of a phone. '.repeat(4) : 'About it',
      owner: 'Ada',
      tags: ['drinks', name.slice(0, 5)],
    }
    const options = { relay: url, name, ca, identity, listed: true, metadata }
    sites.push(await publish({ ...options, fetch: () => new Response('here') }))
  }
  return sites
}

async function closeAll(sites: Site[]): Promise<void> {
  await Promise.all(sites.map((site) => site.close()))
}
