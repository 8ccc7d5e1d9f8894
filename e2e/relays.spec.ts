// The list of relays, of three real ones: which are reachable from the browser, what they signed; and the bans of an administrator.

import type { Page, Request } from '@playwright/test'
import type { DiscoveryResponse, RelayDescriptor } from '@svc/protocol'
import { curl } from '../tools/programs/curl.ts'
import { startRelayGroup } from '../tools/relay/relay-group.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, useBrowser } from './fixtures.ts'
import { confirmBan, logIn, openSection } from './support/administration.ts'
import { expectAccessible, expectAccessiblePart, expectFits } from './support/example-page.ts'
import { HOSTILE, layoutShift, look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const HOSTS = ['here.localhost', 'near.localhost', 'untrusted.localhost']
/** The smallest screen. */
const NARROW_PX = 320
/** A refused connection, or a certificate that the browser does not trust: the browser itself logs both. */
const NOT_REACHED = /net::ERR_/

const test = base.extend<{ opened: { page: Page; errors: string[] } }, { group: TestRelay[] }>({
  group: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const group = await startRelayGroup(HOSTS, { ADMIN_TOKEN })
      await use(group)
      for (const relay of group.toReversed()) await relay.stop()
    },
    { scope: 'worker' },
  ],
  relay: ({ group }, use) => use(group[0]!),
  browser: [
    // The browser does not trust the third relay, which both others do.
    ({ playwright, group }, use) =>
      useBrowser(
        playwright,
        group.slice(0, 2).map(({ caFile }) => caFile),
        use,
      ),
    { scope: 'worker' },
  ],
  opened: async ({ browser, group }, use) => {
    await expect(async () => expect((await listOf(group)).relays).toHaveLength(3)).toPass()
    const context = await browser.newContext()
    const opened = await openWeb(context, `${group[0]!.url}/relays`)
    await use(opened)
    expect(opened.errors.filter((error) => !NOT_REACHED.test(error))).toEqual([])
    await context.close()
  },
})

const listOf = async ([relay]: TestRelay[]): Promise<DiscoveryResponse> =>
  JSON.parse(String(await curl(relay!.caFile, `${relay!.url}/discovery`))).data
const rows = (page: Page) => page.getByRole('list', { name: 'Relays' }).getByRole('listitem')

test('says who is there, how far away, and what each one signed; a relay that the browser cannot reach is shown as such', async ({
  opened: { page },
  group,
}) => {
  const { relays, release_version } = await listOf(group)
  await expect(rows(page)).toHaveCount(3)
  await expect(rows(page).first()).toContainText('this relay')
  for (const { url } of group) {
    const row = rows(page).filter({ hasText: url })
    const { address } = relays.find(({ api_https_addr }) => api_https_addr === url)!
    await expect(row.getByRole('link')).toHaveAttribute('href', `${url}/`)
    await expect(row).toContainText(`release ${release_version}`)
    await expect(row).toContainText(address)
    await expect(row.locator('dd').first()).toHaveText('HTTPS')
    await expect(row.locator('time')).toHaveCount(2)
    await expect(row.locator('.state')).toHaveText(
      url.includes('untrusted') ? 'does not answer' : /^(?:[\d,]+|less than 1) ms$/,
    )
  }
})

test('may ask other origins in its worker alone', async ({ opened: { page, errors }, group }) => {
  await expect(rows(page).nth(1).locator('.state')).toHaveText(/ms$/)
  const asked = await page.evaluate((url) => fetch(url).then(String, String), `${group[1]!.url}/sdk/domain`)
  expect(asked).toContain('TypeError')
  expect(errors.filter((error) => error.includes('Content Security Policy')).length).toBeGreaterThan(0)
  errors.splice(0)
})

wholeOnly(test, 'variant')(
  'measures again when somebody asks for it',
  async ({ opened: { page }, group }) => {
    const asked: Request[] = []
    await expect(rows(page).nth(1).locator('.state')).toHaveText(/ms$/)
    page.context().on('request', (request) => {
      if (request.url() === `${group[1]!.url}/sdk/domain`) asked.push(request)
    })
    await page.getByRole('button', { name: 'Measure again' }).click()
    await expect(rows(page).nth(1).locator('.state')).toHaveText(/ms$/)
    await expect.poll(() => asked.length).toBe(2)
    // The second request, which is measured, opens no connection.
    expect(asked[1]!.timing().connectStart).toBe(-1)
  },
)

wholeOnly(test, 'variant')(
  'leads there from every page of a relay with discovery',
  async ({ opened: { page }, group }) => {
    await page.goto(`${group[0]!.url}/sites`)
    await page.getByRole('link', { name: 'Relays' }).click()
    await expect(page).toHaveURL(`${group[0]!.url}/relays`)
    await expect(rows(page)).toHaveCount(3)
    await expect(rows(page).nth(1).locator('.state')).toHaveText(/ms$/)
  },
)

wholeOnly(test, 'depth')(
  'a thousand relays come in steps, and whatever they say is text',
  async ({ opened: { page }, group }, info) => {
    const { markup, attribute, script } = HOSTILE
    // Nobody listens there.
    const origins = Array.from({ length: 1_025 }, (_, index) => `https://127.0.0.1:${20_000 + index}`)
    const data = await listOf(group)
    const [own] = data.relays as [RelayDescriptor]
    await page.route('**/discovery', async (route) => {
      const relays = [own, ...origins.slice(1).map((api_https_addr) => ({ ...own, api_https_addr }))]
      const invalid = [
        { ...own, api_https_addr: script },
        { ...own, address: markup },
      ]
      const incompatible = { url: script, protocol_version: attribute, last_seen_at: data.generated_at }
      const releases = Object.fromEntries(origins.map((origin) => [origin, markup]))
      await route.fulfill({
        json: {
          ok: true,
          data: {
            ...data,
            relays: [...relays, ...invalid],
            relay_release_versions: releases,
            incompatible_relays: [incompatible],
          },
        },
      })
    })
    await page.reload()
    await expect(page.locator('output')).toHaveText('1,025 relays')
    await expect(rows(page)).toHaveCount(20)
    await expect(rows(page).nth(1)).toContainText(`release ${markup}`)
    await expect(rows(page).nth(19).locator('.state')).toHaveText('does not answer')
    await page.getByRole('button', { name: 'Show 20 more' }).click()
    await expect(rows(page)).toHaveCount(40)
    const incompatible = page.getByRole('region', { name: 'Incompatible relays' })
    await expect(incompatible).toContainText(script)
    await expect(incompatible).toContainText(attribute)
    await expect(page.locator('main').locator('img, script, svg')).toHaveCount(0)
    await expect(page.locator(`a[href^="javascript:"]`)).toHaveCount(0)
    expect(await layoutShift(page)).toBeLessThan(0.01)
    await expectFits({ hostile: page }, info, [NARROW_PX])
    await expectAccessible(page)
  },
)

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing',
  async ({ opened: { page } }, info) => {
    await expect(rows(page).nth(1).locator('.state')).toHaveText(/ms$/)
    await expect(rows(page).nth(2).locator('.state')).toHaveText('does not answer')
    expect(await layoutShift(page)).toBeLessThan(0.01)
    await expectFits({ relays: page }, info, [NARROW_PX, ...WIDTHS_PX])
    await expectAccessible(page)
  },
)

wholeOnly(test, 'variant')(
  'an administrator bans a relay by its URL or address, and lifts the ban',
  async ({ opened: { page, errors }, group }) => {
    const { url } = group[2]!
    const { address } = (await listOf(group)).relays.find(({ api_https_addr }) => api_https_addr === url)!
    const known = async (): Promise<string[]> =>
      (await listOf(group)).relays.map(({ api_https_addr }) => api_https_addr)
    await page.goto(`${group[0]!.url}/admin`)
    await logIn(page, ADMIN_TOKEN)
    await openSection(page, 'Relays')
    const card = page.getByRole('region', { name: 'Bans of other relays' })
    const ban = async (what: string): Promise<void> => {
      await card.getByLabel('URL of a relay').fill(what)
      await card.getByRole('button', { name: 'Ban', exact: true }).click()
      await confirmBan(page)
    }
    await expect(card.getByText('No relay is banned.')).toBeVisible()
    await expectAccessiblePart(page, '.admin')

    await ban('http://not-a-relay.example/path')
    await expect(
      page.getByText('That did not work (http://not-a-relay.example/path was banned)'),
    ).toBeVisible()
    // The browser itself logs a 400.
    await expect.poll(() => errors.splice(0).join()).toContain('400')

    await ban(address)
    await expect(card.getByRole('listitem')).toContainText(address.toLowerCase())
    expect(await known()).not.toContain(url)
    await expectAccessiblePart(page, '.admin')
    await card.getByRole('button', { name: /^Lift:/ }).click()
    await expect(card.getByText('No relay is banned.')).toBeVisible()

    await ban(`${url}/`)
    await expect(card.getByRole('listitem')).toContainText(url)
    await page.locator('.message').getByRole('button', { name: 'Undo' }).click()
    await look(page)
    await expect(card.getByText('No relay is banned.')).toBeVisible()
    await openSection(page, 'History')
    const changes = page.getByRole('region', { name: 'Recent changes' })
    await expect(changes).toContainText(`${url} was banned`)
  },
)
