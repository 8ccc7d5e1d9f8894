// The administration: logging in, deciding with a way back, two administrators at once, and a relay that restarts.

import path from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import type { PolicyStateResponse } from '@svc/protocol'
import type { Site } from '@svc/sdk-node'
import { curl } from '../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import {
  confirmBan,
  logIn,
  navigation,
  openAccess,
  openSection,
  openSite,
  standing,
} from './support/administration.ts'
import { expectAccessible, expectAccessiblePart, expectFits } from './support/example-page.ts'
import { type PublishAs, publishAs } from './support/publish-fixture.ts'
import { HOSTILE, layoutShift, look, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const NARROW_PX = 320

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
    const page = await openAdmin(context, relay, errors)
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

async function openAdmin(context: BrowserContext, relay: TestRelay, errors: string[]): Promise<Page> {
  const opened = await openWeb(context, `${relay.url}/admin`)
  const { page } = opened
  page.on('close', () => errors.push(...opened.errors.splice(0)))
  await logIn(page, ADMIN_TOKEN)
  return page
}

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
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
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
  await openSection(admin, 'Certificates')
  const card = admin.getByRole('region', { name: 'Held by this relay' })
  for (const what of ['The relay itself', 'All sites together']) {
    const line = card.getByRole('listitem').filter({ hasText: what })
    await expect(line).toContainText('relay.localhost, *.relay.localhost')
    await expect(line.locator('time')).toHaveText(/^ends in \d+ days$/)
  }
  await expectAccessiblePart(admin, '.admin')
})

test('by keyboard alone: a site in full, a ban after a question with reason and end, and back', async ({
  admin,
  publishAs,
  relay,
}) => {
  const site = await publishAs('keyed', { description: 'Described', owner: 'Ada', tags: ['a', 'b'] })
  const isThere = async (): Promise<boolean> =>
    String(await curl(relay.caFile, `${relay.url}/api/state`)).includes('"keyed"')
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await admin.keyboard.press(key)
  }
  await navigation(admin).getByRole('link', { name: 'Sites' }).press('Enter')
  await expect(standing(admin, 'keyed')).toHaveText('online')
  await press('/')
  await expect(admin.getByRole('searchbox')).toBeFocused()
  await admin.keyboard.type('keyed')
  await admin.getByRole('link', { name: 'Details of keyed' }).press('Enter')
  await expect(admin.getByRole('heading', { name: 'keyed', level: 1 })).toBeVisible()
  const facts = admin.getByRole('region', { name: 'Facts' })
  for (const value of ['Described', 'Ada', 'a, b', '127.0.0.1', new URL(site.url).hostname])
    await expect(facts.locator('dd').filter({ hasText: value }).first()).toBeVisible()
  // The page leaves empty facts out.
  for (const name of ['Custom domains', 'UDP port', 'Banned', 'Denied', 'Thumbnail (not loaded)'])
    await expect(facts.locator('dt').getByText(name, { exact: true })).toHaveCount(0)

  await expect(admin.getByRole('region', { name: 'History' })).toContainText('Registered · from 127.0.0.1')

  const ban = admin.getByRole('button', { name: 'Ban', exact: true })
  const question = admin.getByRole('dialog', { name: 'Ban keyed?' })
  await ban.press('Enter')
  await expect(question).toContainText('it cannot register again')
  await press('Escape')
  await expect(question).toHaveCount(0)
  expect(await isThere()).toBe(true)
  await expect(ban).toBeFocused()
  await press('Enter')
  await expect(question.getByLabel('Reason')).toBeFocused()
  await admin.keyboard.type('spam')
  await press('Tab', 'ArrowDown', 'ArrowDown', 'Tab')
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await press('Tab', 'Enter')
  await expect(admin.getByRole('button', { name: 'Lift ban' })).toBeVisible()
  await expect(admin.locator('.notice')).toHaveText(/^Banned by ADMIN_TOKEN\. spam · until /)
  expect(await isThere()).toBe(false)

  await admin.locator('.message').getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(ban).toBeVisible()
  expect(await isThere()).toBe(true)
  // The way back leads to the table as it was left.
  await admin.goBack()
  await expect(admin.getByRole('searchbox')).toHaveValue('keyed')
  await expect(standing(admin, 'keyed')).toHaveText('online')
  await admin.getByRole('searchbox').fill('')
  await openSection(admin, 'History')
  const changes = admin.getByRole('region', { name: 'Recent changes' }).getByRole('listitem')
  await expect(changes.nth(1)).toContainText(/keyed was banned.*Reason: spam.*by ADMIN_TOKEN.*taken back/)
  await expect(admin.getByRole('region', { name: 'Audit log' })).toContainText('keyed was banned')
})

test('the queue: one key decides, and one press about all that are selected', async ({
  admin,
  publishAs,
  relay,
}, info) => {
  await openSection(admin, 'Access')
  await expect(admin.getByText('Nobody waits for approval')).toBeVisible()
  await openSection(admin, 'Settings')
  await admin.getByText('With approval').click()
  await admin.getByRole('button', { name: 'Save' }).click()
  await admin.getByRole('button', { name: 'Yes, do it' }).click()
  const names = ['first', 'second', 'third', 'fourth', 'fifth']
  await openSection(admin, 'Access')
  const queue = admin.getByRole('region', { name: 'Waiting for approval' }).locator('[data-key]')
  const published: Promise<Site>[] = []
  for (const name of names) {
    // A site is published when it is approved.
    published.push(publishAs(name))
    await expect(queue).toHaveCount(published.length)
  }
  // The newest is last, and the keys act on the first.
  for (const [index, name] of names.entries()) await expect(queue.nth(index)).toContainText(name)
  await expectAccessible(admin)
  await expectFits({ queue: admin }, info, [NARROW_PX, ...WIDTHS_PX])
  // Held down, the key decides about one.
  for (const press of ['down', 'down', 'up'] as const) await admin.keyboard[press]('a')
  await expect(queue).toHaveCount(4)
  await expect(admin.locator('.message')).toContainText('first was approved')
  await admin.keyboard.press('j')
  await admin.keyboard.press('d')
  await expect(admin.locator('.message')).toContainText('third was denied')
  await expect(queue).toHaveCount(3)
  await admin.keyboard.press('k')
  await expect(queue.first()).toHaveAttribute('data-current', 'true')

  // People who dictate can turn single keys off.
  await admin.getByLabel('Single keys').uncheck()
  await admin.keyboard.press('a')
  await admin.getByLabel('Single keys').check()
  await expect(queue).toHaveCount(3)

  await admin.getByLabel('Select all').check()
  await admin.getByRole('group', { name: 'Selected sites' }).getByRole('button', { name: 'Approve' }).click()
  await expect(admin.getByText('Nobody waits for approval')).toBeVisible()
  // A site hears of it with its next question, and is online then.
  await Promise.all(published.filter((_, index) => names[index] !== 'third'))
  const visit = (name: string): Promise<string> =>
    curl(relay.caFile, relay.url.replace('relay.localhost', `${name}.relay.localhost`)).then(String, String)
  for (const name of ['first', 'second', 'fourth', 'fifth']) expect(await visit(name)).toBe('here')
  expect(await visit('third')).not.toBe('here')
  const undo = admin.locator('.message').getByRole('button', { name: 'Undo' })
  await undo.click()
  await expect(queue).toHaveCount(3)

  // So are they banned, with one question.
  await admin.getByLabel('Select all').check()
  await admin.getByRole('group', { name: 'Selected sites' }).getByRole('button', { name: 'Ban' }).click()
  const question = admin.getByRole('dialog', { name: 'Ban 3 sites?' })
  await question.getByLabel('Ends').selectOption('at a time of your choice')
  const time = question.getByLabel('Time (')
  const future = await time.inputValue()
  await time.fill('2020-01-01T00:00')
  await question.getByRole('button', { name: 'Ban', exact: true }).click()
  expect(await time.evaluate((field: HTMLInputElement) => field.validity.valid)).toBe(false)
  await time.fill(future)
  await confirmBan(admin, 'spam')
  await expect(admin.locator('.message')).toContainText('3 sites were banned')
  await expect(admin.getByText('Nobody waits for approval')).toBeVisible()
  await undo.click()
  await expect(queue).toHaveCount(3)
  await openSection(admin, 'History')
  await expect(admin.getByRole('region', { name: 'Recent changes' })).toContainText(
    /3 sites were bannedReason: spamUntil /,
  )
  await expect(admin.getByRole('region', { name: 'Recent changes' })).toContainText('3 sites were approved')
  await openSite(admin, 'third')
  await admin.getByRole('button', { name: 'Lift denial' }).click()
  await openSection(admin, 'Settings')
  await admin.getByText('Everybody').click()
  await admin.getByRole('button', { name: 'Save' }).click()
  await expect(admin.locator('.message')).toContainText('The settings were changed')
  await Promise.all(published)
})

wholeOnly(test, 'variant')(
  'what one administrator does, the other one sees',
  async ({ admin, browser, relay, errors, publishAs }) => {
    const context = await browser.newContext()
    const second = await openAdmin(context, relay, errors)
    await publishAs('newcomer')
    await openSection(second, 'Settings')
    await second.getByText('With approval').click()
    await second.getByRole('button', { name: 'Save' }).click()
    await second.getByRole('button', { name: 'Yes, do it' }).click()
    await expect(second.getByRole('dialog')).toHaveCount(0)
    await openSection(admin, 'Settings')
    await expect(admin.getByRole('radio', { name: 'With approval' })).toBeChecked()
    await openSection(admin, 'Access')
    await openSection(second, 'Sites')
    await expect(standing(second, 'newcomer')).toHaveText('waiting')
    await admin.getByRole('button', { name: 'Approve: newcomer' }).click()
    await look(second)
    await expect(standing(second, 'newcomer')).toHaveText('online')

    await openAccess(admin, 'Bans')
    await openAccess(second, 'Bans')
    const ban = async (ip: string, reason = ''): Promise<void> => {
      await admin.getByLabel('IP address').fill(ip)
      await admin.getByRole('button', { name: 'Ban', exact: true }).click()
      await confirmBan(admin, reason)
    }
    await ban('not an address')
    await expect(admin.getByText('That did not work (not an address was banned)')).toBeVisible()
    await ban('2001:DB8::1', 'scans')
    await look(second)
    const line = second.getByRole('listitem').filter({ hasText: '2001:db8::/64' })
    await expect(line).toContainText(/scans · by ADMIN_TOKEN/)
    await line.getByRole('button', { name: 'Lift: 2001:db8::/64' }).click()
    await look(admin)
    await expect(admin.getByText('No address is banned.')).toBeVisible()
    // Both have all changes, and either takes back what the other did.
    for (const page of [admin, second]) {
      await openSection(page, 'History')
      const changes = page.getByRole('region', { name: 'Recent changes' }).getByRole('listitem')
      await expect(changes.first()).toContainText('2001:db8::/64 is no longer banned')
      await expect(changes.nth(1)).toContainText('2001:db8::/64 was banned')
      await expect(changes.nth(1)).toContainText('taken back')
      await expect(changes.nth(2)).toContainText('newcomer was approved')
      await expect(changes.nth(3)).toContainText('Who may register: Everybody → With approval')
    }
    await admin
      .getByRole('region', { name: 'Recent changes' })
      .getByRole('button', { name: 'Undo' })
      .nth(1)
      .click()
    await openSection(second, 'Access')
    await second.getByRole('button', { name: 'Approve: newcomer' }).click()

    await openSite(admin, 'newcomer')
    await admin.getByLabel('Limit, bytes per second').fill('25000')
    await admin.getByRole('button', { name: 'Set limit' }).click()
    await expect(admin.getByRole('region', { name: 'Facts' }).getByText('25 kB/s')).toBeVisible()
    await openSection(second, 'Settings')
    await second.getByText('Everybody').click()
    await second.getByRole('button', { name: 'Save' }).click()
    await expect(second.getByRole('button', { name: 'Save' })).toBeDisabled()
    await openAccess(second, 'Names')
    await second.getByLabel('Names that no site may register').fill('Shop, bank ')
    await second.getByRole('button', { name: 'Save' }).click()
    await openSection(admin, 'Settings')
    await expect(admin.getByRole('radio', { name: 'Everybody' })).toBeChecked()
    await openAccess(admin, 'Names')
    await expect(admin.getByLabel('Names that no site may register')).toHaveValue('shop bank')
    await expect(publishAs('bank')).rejects.toThrow(/reserved/)
    await openAccess(admin, 'Bans')
    await ban('192.0.2.7/24')
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
    await openSite(admin, 'leaver')
    await admin.getByRole('button', { name: 'Approve' }).click()
    await expect(admin.getByRole('button', { name: 'Revoke approval' })).toBeVisible()
    await site.close()
    await look(admin)
    await expect(admin.getByText('The site has no lease now.')).toBeVisible()
    await expect(admin.getByRole('region', { name: 'History' })).toContainText('closed by the site')
    await openAccess(admin, 'Bans')
    const absent = admin.getByRole('region', { name: 'Other decisions about sites without a lease' })
    await absent.getByRole('button', { name: /^Lift: leaver:0x\w+: approved/ }).click()
    await expect(absent.getByRole('button', { name: /leaver/ })).toHaveCount(0)
  },
)

test('sections have addresses: a reload stays there, and an unknown one leads to the overview', async ({
  admin,
  publishAs,
  relay,
}) => {
  const site = await publishAs('placed')
  await openSite(admin, 'placed')
  const { pathname } = new URL(admin.url())
  expect(pathname).toMatch(/^\/admin\/sites\/placed:0x[0-9a-f]{40}$/)
  await admin.reload()
  await expect(admin.getByRole('heading', { name: 'placed', level: 1 })).toBeVisible()
  await expect(admin).toHaveTitle('placed · Admin · svc')
  await expect(navigation(admin).locator('[aria-current]')).toHaveText('Sites')
  await expect(admin.getByRole('link', { name: 'Open the site' })).toHaveAttribute('href', `${site.url}/`)
  await admin.goto(`${relay.url}/admin/nothing`)
  await admin.getByRole('link', { name: 'Go to the overview' }).click()
  await expect(admin).toHaveURL(`${relay.url}/admin`)
  // A feature that is off has no section.
  const sections = await navigation(admin).getByRole('link').allTextContents()
  for (const off of ['Machines', 'Payments', 'Cache', 'DNS', 'Relays']) expect(sections).not.toContain(off)
  await admin.goto(`${relay.url}/admin/payments`)
  await expect(admin.getByRole('heading', { name: 'This feature is off' })).toBeVisible()

  // On a phone, a button with the name of the section opens the others.
  await admin.setViewportSize({ width: 390, height: 844 })
  const menu = navigation(admin).getByRole('button', { name: 'Sections: Payments' })
  const links = navigation(admin).getByRole('link')
  await expect(links).toHaveCount(0)
  await menu.press('Enter')
  await expect(menu).toHaveAttribute('aria-expanded', 'true')
  await expect(links.first()).toBeVisible()
  await admin.keyboard.press('Tab')
  await expect(links.first()).toBeFocused()
  await admin.keyboard.press('Escape')
  await expect(links).toHaveCount(0)
  await expect(menu).toBeFocused()
  await openSection(admin, 'History')
  await expect(links).toHaveCount(0)
  await expect(navigation(admin).getByRole('button', { name: 'Sections: History' })).toBeVisible()
})

test('ten thousand sites: few rows in the document, sorted and searched by keyboard', async ({
  admin,
  publishAs,
}) => {
  await publishAs('model')
  const state: PolicyStateResponse = await admin.evaluate(async () => {
    const headers = { Authorization: `Bearer ${sessionStorage.getItem('svc-admin-token')}` }
    return (await (await fetch('/api/policy/state', { headers })).json()).data
  })
  const [model] = state.leases
  const leases = Array.from({ length: 10_000 }, (_, index) => {
    const name = `site-${String(index).padStart(5, '0')}`
    return { ...model, name, hostname: `${name}.relay.localhost`, identity_key: `${name}:${model?.address}` }
  })
  await admin.route('**/api/policy/state*', (route) =>
    route.fulfill({ json: { ok: true, data: { ...state, leases } } }),
  )
  await openSection(admin, 'Sites')
  await expect(admin.getByText('10,000 sites')).toBeVisible()
  const rows = admin.locator('.site-row')
  expect(await rows.count()).toBeLessThan(80)
  const header = admin.getByRole('columnheader', { name: 'Name' })
  await header.getByRole('button').press('Enter')
  await expect(header).toHaveAttribute('aria-sort', 'ascending')
  await expect(rows.first()).toContainText('site-00000')
  await header.getByRole('button').press('Enter')
  await expect(header).toHaveAttribute('aria-sort', 'descending')
  await expect(rows.first()).toContainText('site-09999')
  await admin.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await expect(admin.getByRole('row').filter({ hasText: 'site-00000' })).toBeVisible()
  expect(await rows.count()).toBeLessThan(80)
  await admin.keyboard.press('/')
  await admin.keyboard.type('04321')
  await expect(rows).toHaveCount(1)
  await expectAccessiblePart(admin, '.admin')
})

wholeOnly(test, 'variant')('without a landing page nothing leads there', async ({ admin, relay }) => {
  const sites = admin.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sites' })
  await openSection(admin, 'Settings')
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

test('nothing that a lease says is more than text, and its picture is never loaded', async ({
  admin,
  publishAs,
}) => {
  const { markup, attribute, picture } = HOSTILE
  const asked: string[] = []
  admin.on('request', (request) => asked.push(request.url()))
  const metadata = { description: markup, owner: attribute, tags: [markup], thumbnail: picture }
  await publishAs('hostile', metadata, false)
  await publishAs('tracker', { thumbnail: 'https://tracker.example/pixel.png' }, false)
  await openSite(admin, 'hostile')
  const facts = admin.getByRole('region', { name: 'Facts' })
  for (const text of [markup, attribute, picture.slice(0, 50)]) await expect(facts).toContainText(text)
  await expect(facts.locator('img, script, svg')).toHaveCount(0)
  await openSite(admin, 'tracker')
  await expect(facts).toContainText('https://tracker.example/pixel.png')
  await expect(admin.locator('.admin img')).toHaveCount(0)
  expect(asked.filter((url) => url.includes('tracker.example'))).toEqual([])
})

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing',
  async ({ admin, publishAs, relay }, info) => {
    const { url } = await publishAs('a-rather-long-name-yes', { description: 'Described' })
    await curl(relay.caFile, url)
    await expect(admin.locator('canvas')).toHaveCount(3)
    expect(await layoutShift(admin)).toBeLessThan(0.01)
    await expectFits({ overview: admin }, info, [NARROW_PX, ...WIDTHS_PX])
    await expectAccessible(admin)
    for (const name of ['Sites', 'Access', 'Certificates', 'Domains', 'Settings', 'History']) {
      await openSection(admin, name)
      await admin.waitForLoadState('networkidle')
      await expectFits({ [name.toLowerCase()]: admin }, info, [NARROW_PX, ...WIDTHS_PX])
      await expectAccessiblePart(admin, '.admin')
    }
    for (const part of ['Bans', 'Invitations', 'Names']) {
      await openAccess(admin, part)
      await expectFits({ [part.toLowerCase()]: admin }, info, [NARROW_PX, ...WIDTHS_PX])
      await expectAccessiblePart(admin, '.admin')
    }
    await openSite(admin, 'a-rather-long-name-yes')
    await expect(admin.locator('canvas')).toHaveCount(2)
    await expectFits({ site: admin }, info, [NARROW_PX, ...WIDTHS_PX])
    await expectAccessiblePart(admin, '.admin')
    await admin.getByRole('button', { name: 'Ban', exact: true }).click()
    await expectFits({ ban: admin }, info, [NARROW_PX, ...WIDTHS_PX])
    await expectAccessiblePart(admin, 'dialog')
  },
)

wholeOnly(test, 'faults')(
  'a restart of the relay is survived; a token that it does not take any more leads back to the login',
  async ({ admin, errors }) => {
    await restart(ADMIN_TOKEN)
    await expect(admin.getByRole('alert')).toHaveCount(0)
    await expect(admin.getByText('of 0 leases')).toBeVisible()
    await restart('another-long-random-value')
    await expect(admin.getByRole('alert')).toContainText('no longer accepts the token')
    await expect(admin.getByLabel('Admin token')).toBeVisible()
    expect(await admin.evaluate(() => sessionStorage.length)).toBe(0)
    await admin.close()
    // The browser itself logs that the relay is away, and a 401.
    for (const error of errors.splice(0)) expect(error).toMatch(/ERR_CONNECTION|ERR_EMPTY|ERR_SOCKET|401/)
  },
)
