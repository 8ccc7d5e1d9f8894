// The administration: logging in, deciding with a way back, two administrators at once, and a relay that restarts.

import path from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectAccessible, expectAccessiblePart, expectFits } from './support/example-page.ts'
import { type PublishAs, publishAs } from './support/publish-fixture.ts'
import { HOSTILE, layoutShift, look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'

/** The relay, and the processes that took its place. */
const relays: TestRelay[] = []

interface Fixtures {
  context: BrowserContext
  errors: string[]
  admin: Page
  publishAs: PublishAs
}

const test = base.extend<Fixtures>({
  relay: async ({ oncePerFile }, use) => use(await oncePerFile('relay', startFirst)),
  context: async ({ browser }, use) => {
    const context = await browser.newContext()
    await use(context)
    await context.close()
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  errors: async ({}, use) => {
    const errors: string[] = []
    await use(errors)
    expect(errors).toEqual([])
  },
  admin: async ({ context, relay, errors }, use) => {
    const page = await logIn(context, relay, errors)
    await use(page)
    await page.close()
  },
  publishAs,
})

async function startFirst(): Promise<TestRelay> {
  relays.push(await startTestRelay({ env: { ADMIN_TOKEN } }))
  const stop = async (): Promise<void> => {
    for (const relay of relays.splice(0).toReversed()) await relay.stop()
  }
  return { ...relays[0]!, stop }
}

/** Kills the relay and starts it again where it was. */
async function restart(token: string): Promise<void> {
  const { pid, ended } = relays.at(-1)!
  const { url, caFile } = relays[0]!
  process.kill(pid, 'SIGKILL')
  await ended
  const env = { ADMIN_TOKEN: token, IDENTITY_PATH: path.dirname(caFile) }
  relays.push(await startTestRelay({ port: Number(new URL(url).port), env }))
}

async function logIn(context: BrowserContext, relay: TestRelay, errors: string[]): Promise<Page> {
  const opened = await openWeb(context, `${relay.url}/admin`)
  const { page } = opened
  page.on('close', () => errors.push(...opened.errors.splice(0)))
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('heading', { name: 'Leases' })).toBeVisible()
  return page
}

const standing = (page: Page, name: string) =>
  page
    .getByRole('listitem')
    .filter({ hasText: `${name}.relay.localhost` })
    .locator('.state')

test('only the right token opens it, and the token is in no address and does not outlive the tab', async ({
  context,
  relay,
}) => {
  const { page, errors } = await openWeb(context, `${relay.url}/admin`)
  const token = page.getByLabel('Admin token')
  await token.fill('guess')
  await token.press('Enter')
  await expect(page.getByRole('alert')).toHaveText('That is not the admin token.')
  // The browser itself logs a 401.
  expect(errors.splice(0)).toEqual([expect.stringContaining('401')])
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  await token.fill(ADMIN_TOKEN)
  await token.press('Enter')
  await expect(page.getByRole('heading', { name: 'Leases' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Leases' })).toBeVisible()
  expect(addresses.join()).not.toContain(ADMIN_TOKEN)
  expect(await page.evaluate(() => document.cookie + Object.values(localStorage))).not.toContain(ADMIN_TOKEN)

  const other = await openWeb(context, `${relay.url}/admin`)
  await expect(other.page.getByLabel('Admin token')).toBeVisible()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.reload()
  await expect(page.getByLabel('Admin token')).toBeVisible()
  expect([...errors, ...other.errors]).toEqual([])
})

wholeOnly(test, 'variant')('says which certificates the relay holds, and until when', async ({ admin }) => {
  const card = admin.getByRole('region', { name: 'Certificates' })
  for (const what of ['The relay itself', 'All sites together']) {
    const line = card.getByRole('listitem').filter({ hasText: what })
    await expect(line).toContainText('relay.localhost, *.relay.localhost')
    await expect(line.locator('time')).toHaveText(/^ends in \d+ days$/)
  }
  await expectAccessiblePart(admin, '.admin')
})

test('by keyboard alone: a lease in full, a ban after a question, and back', async ({
  admin,
  publishAs,
  relay,
}) => {
  const site = await publishAs('keyed', { description: 'Described', owner: 'Ada', tags: ['a', 'b'] })
  const isThere = async (): Promise<boolean> =>
    String(await curl(relay.caFile, `${relay.url}/api/state`)).includes('"keyed"')
  await look(admin)
  await expect(standing(admin, 'keyed')).toHaveText('routed')
  await admin.getByRole('button', { name: 'Details of keyed' }).focus()
  await admin.keyboard.press('Enter')
  const dialog = admin.getByRole('dialog', { name: 'Details of keyed' })
  await expect(dialog.locator('dt')).toHaveCount(24)
  for (const value of ['Described', 'Ada', 'a, b', '127.0.0.1', new URL(site.url).hostname])
    await expect(dialog.locator('dd').filter({ hasText: value }).first()).toBeVisible()

  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await admin.keyboard.press(key)
  }
  // Approve, Deny, Ban.
  await press('Tab', 'Tab')
  await expect(dialog.getByRole('button', { name: 'Ban', exact: true })).toBeFocused()
  await press('Enter')
  const question = admin.getByRole('dialog', { name: 'Are you sure?' })
  await expect(question).toContainText('Ban keyed?')
  await press('Escape')
  await expect(question).toHaveCount(0)
  expect(await isThere()).toBe(true)
  await expect(dialog.getByRole('button', { name: 'Ban', exact: true })).toBeFocused()
  await press('Enter')
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await press('Tab', 'Enter')
  await expect(dialog.getByRole('button', { name: 'Lift ban' })).toBeVisible()
  expect(await isThere()).toBe(false)
  await press('Escape')
  await expect(admin.getByRole('button', { name: 'Details of keyed' })).toBeFocused()
  await expect(standing(admin, 'keyed')).toHaveText('banned')

  await admin.getByRole('status').getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(standing(admin, 'keyed')).toHaveText('routed')
  expect(await isThere()).toBe(true)
  await expect(admin.getByRole('region', { name: 'Changes' })).toContainText('taken back')
})

wholeOnly(test, 'variant')(
  'what one administrator does, the other one sees',
  async ({ admin, browser, relay, errors, publishAs }) => {
    const context = await browser.newContext()
    const second = await logIn(context, relay, errors)
    await publishAs('newcomer')
    await second.getByText('With approval').click()
    await second.getByRole('button', { name: 'Save' }).click()
    await second.getByRole('button', { name: 'Yes, do it' }).click()
    await expect(second.getByRole('dialog')).toHaveCount(0)
    await look(admin)
    await expect(standing(admin, 'newcomer')).toHaveText('waits for approval')
    await expect(admin.getByRole('radio', { name: 'With approval' })).toBeChecked()
    await admin.getByRole('button', { name: 'Approve: newcomer' }).click()
    await look(second)
    await expect(standing(second, 'newcomer')).toHaveText('routed')

    await admin.getByLabel('IP address').fill('not an address')
    await admin.getByRole('button', { name: 'Ban', exact: true }).click()
    await admin.getByRole('button', { name: 'Yes, do it' }).click()
    await expect(admin.getByText('That did not work (not an address was banned)')).toBeVisible()
    await admin.getByLabel('IP address').fill('2001:DB8::1')
    await admin.getByRole('button', { name: 'Ban', exact: true }).click()
    await admin.getByRole('button', { name: 'Yes, do it' }).click()
    await look(second)
    await second.getByRole('button', { name: 'Lift: 2001:db8::/64' }).click()
    await look(admin)
    await expect(admin.getByText('No address is banned.')).toBeVisible()
    // Both have all changes, and either takes back what the other did.
    for (const page of [admin, second]) {
      const changes = page.getByRole('region', { name: 'Changes' }).getByRole('listitem')
      await expect(changes.first()).toContainText('2001:db8::/64 is no longer banned')
      await expect(changes.nth(1)).toContainText('2001:db8::/64 was banned')
      await expect(changes.nth(1)).toContainText('taken back')
      await expect(changes.nth(2)).toContainText('newcomer was approved')
    }
    await admin.getByRole('region', { name: 'Changes' }).getByRole('button', { name: 'Undo' }).nth(1).click()
    await look(second)
    await expect(standing(second, 'newcomer')).toHaveText('waits for approval')
    await second.getByRole('button', { name: 'Approve: newcomer' }).click()

    await admin.getByRole('button', { name: 'Details of newcomer' }).click()
    await admin.getByLabel('Limit, bytes per second').fill('25000')
    await admin.getByRole('button', { name: 'Set limit' }).click()
    await expect(admin.getByRole('dialog').getByText('25 kB/s')).toBeVisible()
    await admin.keyboard.press('Escape')
    await second.getByText('Everybody').click()
    await second.getByLabel('Reserved names').fill('Shop, bank ')
    await second.getByRole('button', { name: 'Save' }).click()
    await look(admin)
    await expect(admin.getByRole('radio', { name: 'Everybody' })).toBeChecked()
    await expect(admin.getByLabel('Reserved names')).toHaveValue('shop bank')
    await expect(publishAs('bank')).rejects.toThrow(/reserved/)
    await admin.getByLabel('IP address').fill('192.0.2.7/24')
    await admin.getByRole('button', { name: 'Ban', exact: true }).click()
    await admin.getByRole('button', { name: 'Yes, do it' }).click()
    await admin.getByRole('button', { name: 'Lift: 192.0.2.0/24' }).click()
    await expect(admin.getByText('No address is banned.')).toBeVisible()
    await admin.close()
    // The browser itself logs a 400.
    expect(errors.splice(0)).toEqual([expect.stringContaining('400')])
    await context.close()
  },
)

wholeOnly(test, 'variant')(
  'decisions outlive the lease, and can be lifted without it',
  async ({ admin, publishAs }) => {
    const site = await publishAs('leaver')
    await look(admin)
    await admin.getByRole('button', { name: 'Details of leaver' }).click()
    await admin.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expect(admin.getByRole('button', { name: 'Revoke approval' })).toBeVisible()
    await admin.keyboard.press('Escape')
    await site.close()
    await look(admin)
    const absent = admin.getByRole('region', { name: 'Decisions about sites without a lease' })
    await absent.getByRole('button', { name: /^Lift: leaver:0x\w+: approved/ }).click()
    await expect(absent.getByRole('button', { name: /leaver/ })).toHaveCount(0)
  },
)

wholeOnly(test, 'variant')('without a landing page nothing leads there', async ({ admin, relay }) => {
  const sites = admin.getByRole('link', { name: 'Sites' })
  const save = async (): Promise<void> => {
    await admin.getByLabel('Serve the landing page').click()
    await admin.getByRole('button', { name: 'Save' }).click()
  }
  await save()
  await expect(sites).toHaveCount(0)
  for (const path of ['/', '/sites'])
    expect(String(await curl(relay.caFile, `${relay.url}${path}`))).toBe('Not found\n')
  await save()
  await expect(sites).toBeVisible()
})

wholeOnly(test, 'variant')('nothing that a lease says is more than text', async ({ admin, publishAs }) => {
  const { markup, attribute, picture } = HOSTILE
  const metadata = { description: markup, owner: attribute, tags: [markup], thumbnail: picture }
  await publishAs('hostile', metadata, false)
  await look(admin)
  await admin.getByRole('button', { name: 'Details of hostile' }).click()
  const dialog = admin.getByRole('dialog')
  for (const text of [markup, attribute, picture.slice(0, 50)]) await expect(dialog).toContainText(text)
  await expect(dialog.locator('img, script, svg')).toHaveCount(0)
})

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing',
  async ({ admin, publishAs, relay }, info) => {
    const { url } = await publishAs('a-rather-long-name-yes', { description: 'Described' })
    await curl(relay.caFile, url)
    const details = admin.getByRole('button', { name: 'Details of a-rather-long-name-yes' })
    await expect(details).toBeVisible()
    await expect(admin.locator('canvas')).toHaveCount(3)
    expect(await layoutShift(admin)).toBeLessThan(0.01)
    await expectFits({ admin }, info, WIDTHS_PX)
    await expectAccessible(admin)
    await details.click()
    await expectFits({ details: admin }, info, WIDTHS_PX)
    await expectAccessiblePart(admin, 'dialog')
  },
)

wholeOnly(test, 'faults')(
  'a restart of the relay is survived; a token that it does not take any more leads back to the login',
  async ({ admin, errors }) => {
    await restart(ADMIN_TOKEN)
    await expect(admin.getByRole('alert')).toHaveCount(0)
    await expect(admin.getByText('0 leases')).toBeVisible()
    await restart('another-long-random-value')
    await expect(admin.getByRole('alert')).toContainText('no longer accepts the token')
    await expect(admin.getByLabel('Admin token')).toBeVisible()
    expect(await admin.evaluate(() => sessionStorage.length)).toBe(0)
    await admin.close()
    // The browser itself logs that the relay is away, and a 401.
    for (const error of errors.splice(0)) expect(error).toMatch(/ERR_CONNECTION|ERR_EMPTY|ERR_SOCKET|401/)
  },
)
