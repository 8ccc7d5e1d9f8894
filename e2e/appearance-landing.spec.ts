// The landing page looks as in its pictures, in each of its states: `npm run e2e -- appearance --update` makes them anew.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { BrowserContext, Page } from '@playwright/test'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { ADMIN_TOKEN, test as base, READER } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'
import { type NamedRelay, startNamedRelay } from './support/named-relay.ts'

/** The relay is one that other devices could reach, and its addresses have no ports. */
const test = base.extend<{ named: NamedRelay }>({
  named: async ({ playwright }, use) => {
    const relay = await startNamedRelay(playwright.chromium, { ADMIN_TOKEN }, true)
    await use(relay)
    await relay.close()
  },
  context: async ({ named }, use) => use(await named.browser.newContext(READER)),
})

const looks = wholeOnly(test, 'appearance')
const LONG_NAME = `${'a long name of a file '.repeat(6)}.txt`

const state = (page: Page) => page.locator('.publish .state')
const card = (page: Page) => page.locator('.publish')

async function begin(page: Page, name: string, kind = 'Note'): Promise<void> {
  await page.getByRole('radio', { name: kind }).check()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await page.getByRole('button', { name: 'Publish' }).click()
}

async function online(page: Page, name: string, kind?: string): Promise<string> {
  await begin(page, name, kind)
  await expect(state(page)).toHaveText('online')
  return `https://${name}.relay.test`
}

/** Visits as somebody else. */
async function visit(context: BrowserContext, url: string): Promise<Page> {
  const other = await context.browser()!.newContext(READER)
  const page = await other.newPage()
  await page.goto(url)
  return page
}

const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('text') })

looks('idle, who may come in, errors', async ({ page, named, context }) => {
  await page.goto(named.url)
  await expect(page.getByRole('button', { name: 'Publish' })).toBeVisible()
  await expectLook(page, 'landing', { fullPage: true })
  await page.getByText('Options').click()
  await expectLook(page, 'landing-access', { of: card(page) })
  await begin(page, '-no')
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveAccessibleDescription(/1 to 22 letters/)
  await expectLook(page, 'landing-error', { of: card(page) })
  const other = await visit(context, named.url)
  await online(other, 'taken')
  await begin(page, 'taken')
  await expect(page.getByText('Somebody else has this name')).toBeVisible()
  await expectLook(page, 'landing-name-taken', { of: card(page) })
  await other.context().close()
  await context.setOffline(true)
  await begin(page, 'offline')
  await expect(page.getByText('You are offline.')).toBeVisible()
  await expectLook(page, 'landing-error-offline', { of: card(page) })
  await context.setOffline(false)
})

looks('a note: online, offline, without the relay', async ({ page, named, context }) => {
  await page.goto(named.url)
  const url = await online(page, 'my-tab')
  const visitor = await visit(context, url)
  await expect(page.locator('.count')).toHaveText('1')
  await expectLook(page, 'landing-online', { of: page.locator('.path') })
  await expectLook(visitor, 'visitor-note')
  await visitor.context().close()
  await context.setOffline(true)
  await expect(page.getByText('You are offline. Trying again …')).toBeVisible()
  await expectLook(page, 'landing-offline')
  await context.setOffline(false)
  await expect(state(page)).toHaveText('online')
  process.kill(named.pid, 'SIGKILL')
  await expect(page.getByText(/does not answer\. Trying again in \d+ s\./)).toBeVisible()
  await expectLook(page, 'landing-reconnecting', { isHeld: true })
})

looks('it waits for approval', async ({ page, named }) => {
  await page.goto(named.url)
  await page.evaluate(async (token) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const { data } = await (await fetch('/api/policy', { headers })).json()
    const body = JSON.stringify({ ...data, approval_mode: 'manual' })
    await fetch('/api/policy', { method: 'POST', headers, body })
  }, ADMIN_TOKEN)
  await begin(page, 'a-name-of-22-character')
  await expect(state(page)).toHaveText('waiting')
  await expectLook(page, 'landing-waiting')
})

looks('a folder', async ({ page, named }) => {
  await page.goto(named.url)
  await page.getByRole('radio', { name: 'Folder' }).check()
  await expectLook(page, 'landing-folder', { of: card(page) })
  await page.getByLabel('Choose files').setInputFiles([text('notes.txt'), text(LONG_NAME), text('c.txt')])
  await online(page, 'folder', 'Folder').catch(() => {})
  await expectLook(page, 'landing-folder-online')
})

looks('webhooks: none, and one that is open', async ({ page, named }) => {
  await page.goto(named.url)
  const url = await online(page, 'hooks', 'Webhooks')
  await expect(page.getByText('No requests yet.')).toBeVisible()
  await expectLook(page, 'landing-webhooks-empty', { of: page.locator('.live') })
  for (const id of [1, 2]) {
    const body = JSON.stringify({ id, event: 'order.paid', total: '12.50', items: ['tea', 'cup'] })
    const fields = ['-A', 'curl', '-H', 'Content-Type: application/json', '-d', body]
    await promisify(execFile)('curl', [...named.curl, ...fields, `${url}/hook?attempt=${id}`])
  }
  const requests = page.getByRole('list', { name: 'Requests' }).getByRole('button')
  await requests.filter({ hasText: 'attempt=2' }).click()
  await expect(page.locator('.live').getByRole('tabpanel')).toContainText('order.paid')
  await expectLook(page, 'landing-webhooks', { of: page.locator('.live') })
})

looks('a chat and its visitor', async ({ page, named, context }) => {
  await page.goto(named.url)
  const url = await online(page, 'chat', 'Chat')
  const visitor = await visit(context, url)
  await expectLook(visitor, 'visitor-chat-join')
  await visitor.getByLabel('Your name').fill('Ann')
  await visitor.getByRole('button', { name: 'Join' }).click()
  await expect(visitor.locator('#status')).toContainText('Connected by')
  for (const [who, words] of [
    [visitor, 'Hello, is anybody here?'],
    [page, 'Yes, and this room is in my tab.'],
    [visitor, 'A sentence that is longer than the line of a phone, to see how it wraps. '.repeat(2)],
  ] as const) {
    await who.getByLabel('Message', { exact: true }).fill(words)
    await who.getByRole('button', { name: 'Send' }).click()
    await expect(visitor.locator('#messages li').filter({ hasText: words.trim() })).toBeVisible()
  }
  await expectLook(page, 'landing-chat', { of: page.locator('.live') })
  await expectLook(visitor, 'visitor-chat')
  await visitor.context().close()
})

looks('tools', async ({ page, named }) => {
  await page.goto(named.url)
  await online(page, 'tools', 'Tools')
  await expectLook(page, 'landing-tools', { of: page.locator('.live') })
})

looks('visitors who wait', async ({ page, named, context }) => {
  await page.goto(named.url)
  await page.getByText('Options').click()
  await page.getByLabel('Ask me about each visitor').check()
  const url = await online(page, 'private')
  await expectLook(page, 'landing-knock-none', { of: card(page) })
  const visitor = await visit(context, `${url}/a/path?and=query`)
  await expect(page.locator('.knocks li')).toHaveCount(1)
  await fixNumber(page)
  await expectLook(page, 'landing-knock', { of: card(page) })
  await visitor.context().close()
})

/** The number of a visitor is by chance. */
async function fixNumber(page: Page): Promise<void> {
  await page.locator('.knocks li strong').evaluate((number) => {
    number.textContent = '4711'
  })
}

looks('the ways from elsewhere', async ({ page, named }) => {
  await page.goto(named.url)
  const code = page.locator('.code').first()
  for (const way of ['svc', 'MCP']) {
    await page.getByRole('tab', { name: new RegExp(`^${way}$`) }).click()
    await expect(page.getByRole('tabpanel').locator('pre').first()).toBeVisible()
    await expectLook(page, `landing-way-${way.toLowerCase()}`, { of: code })
  }
})

for (const [locale, publish] of [
  ['de-DE', 'Veröffentlichen'],
  ['ar-EG', 'نشر'],
] as const)
  looks(`in the language ${locale}`, async ({ named }) => {
    const language = locale.slice(0, 2)
    const context = await named.browser.newContext({ ...READER, locale })
    const page = await context.newPage()
    await page.goto(named.url)
    await expect(page.getByRole('button', { name: publish, exact: true })).toBeVisible()
    await expectLook(page, `landing-${language}`, { fullPage: true })
    await page.locator('summary').first().click()
    await page.locator('#name').fill('-no')
    await page.getByRole('button', { name: publish, exact: true }).click()
    await expect(page.locator('#name')).toHaveAttribute('aria-invalid', 'true')
    await expectLook(page, `landing-${language}-error`, { of: card(page) })
    await page.locator('#name').fill('my-tab')
    await page.getByRole('button', { name: publish, exact: true }).click()
    await expect(page.locator('.address a').first()).toHaveText(/my-tab/)
    const visitor = await visit(context, 'https://my-tab.relay.test')
    await expect(page.locator('.count')).toHaveText('1')
    await visitor.context().close()
    await expectLook(page, `landing-${language}-online`)
    await page.goto(`${named.url}/sites`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle')
    await expectLook(page, `sites-${language}`)
    await context.close()
  })
