// The page of the local agent in a browser: sign-in by ticket and by wallet, and tunnels that its owner adds, pauses, changes and
// removes, at a real agent and a real relay.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from '@playwright/test'
import { freePort } from '../tools/network/free-port.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { type AgentProcess, startAgent } from './support/agent-process.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { layoutShift, type OpenedPage, openWeb, WIDTHS_PX } from './support/relay-page.ts'
import { addTestWallet } from './support/test-wallet.ts'

interface Target {
  port: number
  server: Server
  stop(): Promise<void>
}

interface Fixtures {
  target: Target
  /** The name of the tunnel that the agent has: each identity has one of its own, for the relay keeps names for their holders. */
  first: string
  agent: AgentProcess
  context: BrowserContext
  /** The page, opened by a ticket. */
  owner: OpenedPage
}

let tunnels = 0

async function startTarget(): Promise<Target> {
  const server = createServer((_request, response) => response.end('from the target'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port, stop: async () => void server.close() }
}

const test = base.extend<Fixtures>({
  target: async ({ oncePerFile }, use) => use(await oncePerFile('target', startTarget)),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  first: async ({}, use) => {
    await use(`agent-${++tunnels}`)
  },
  agent: async ({ relay, target, first }, use) => {
    const agent = await startAgent(
      `# kept\nrelay = "${relay.url}"\nca = "${relay.caFile}"\n\n[agent]\ncontrol_addr = "127.0.0.1:${await freePort()}"\n\n[[tunnel]]\nname = "${first}"\nhttp = ${target.port} # kept, too\n`,
    )
    await use(agent)
    await agent.stop()
  },
  context: async ({ browser }, use) => {
    const context = await browser.newContext()
    await use(context)
    await context.close()
  },
  owner: async ({ agent, context }, use) => {
    const opened = await openWeb(context, await agent.pageWithTicket())
    await expect(opened.page.getByRole('heading', { name: 'Tunnels', exact: true })).toBeVisible()
    await use(opened)
  },
})

const card = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}\\b`) })

test('a ticket opens it once, leaves no trace in the address, and the sign-in lasts as long as the tab', async ({
  first,
  agent,
  context,
}) => {
  const address = await agent.pageWithTicket()
  const { page, errors } = await openWeb(context, address)
  await expect(card(page, first).locator('.state')).toHaveText('online')
  expect(page.url()).toBe(`${agent.url}/`)
  await page.reload()
  await expect(card(page, first)).toBeVisible()
  expect(errors).toEqual([])
  const other = await openWeb(context, address)
  await expect(other.page.getByRole('alert')).toContainText('This link was already used')
  // The browser itself logs a 401.
  expect(other.errors).toEqual([expect.stringContaining('401')])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
})

test('a tunnel shows its URL, figures and requests, and no QR code where this machine alone can open the URL', async ({
  first,
  owner: { page, errors },
  visitor,
}) => {
  const shown = card(page, first)
  const link = shown.getByRole('link', { name: new RegExp(`^https://${first}\\.`) })
  await visitor.goto((await link.getAttribute('href'))!)
  await expect(visitor.getByText('from the target')).toBeVisible()
  await expect(
    page.getByRole('region', { name: 'Last requests' }).getByText('GET /', { exact: true }),
  ).toBeVisible()
  await expect(shown.locator('dl')).toContainText(/\d ms/)
  await expect(shown.locator('dl')).not.toContainText('0 Bsent')
  await expect(page.getByRole('button', { name: /QR code/ })).toHaveCount(0)
  const share = shown.getByRole('link', { name: new RegExp(`/go/${first}$`) })
  expect(await expectCopies(page)).toEqual([
    await link.getAttribute('href'),
    await share.getAttribute('href'),
  ])
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'the QR code of a tunnel at a relay that phones can reach opens as a large one',
  async ({ first, agent, context }) => {
    // the browser of this test reaches no such relay: the agent's answer names one
    await context.route(`${agent.url}/**`, async (route) => {
      if (route.request().resourceType() !== 'fetch') return route.fallback()
      const response = await route.fetch()
      const body = (await response.text()).replaceAll(/\brelay\.localhost(:\d+)?/g, 'relay.example')
      await route.fulfill({ response, body })
    })
    const { page, errors } = await openWeb(context, await agent.pageWithTicket())
    await page.getByRole('button', { name: `Show the QR code of ${first} larger` }).click()
    const dialog = page.getByRole('dialog', { name: first })
    await expect(
      dialog.getByRole('img', { name: `QR code of https://relay.example/go/${first}` }),
    ).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    expect(errors).toEqual([])
  },
)

wholeOnly(test, 'variant')(
  'by keyboard: adds a tunnel, pauses it, changes it and removes it, and svc.toml keeps its comments',
  async ({ owner: { page, errors }, agent, target }) => {
    await page.getByRole('button', { name: 'Add a tunnel' }).press('Enter')
    await page.getByLabel('Name').fill('agent-second')
    await page.getByLabel('Port or address').fill(String(target.port))
    await page.keyboard.press('Enter')
    const second = card(page, 'agent-second')
    await expect(second.locator('.state')).toHaveText('online')
    expect(await agent.config()).toContain('# kept, too')

    await second.getByRole('button', { name: 'Pause' }).press('Enter')
    await expect(second.locator('.state')).toHaveText('paused')
    await expect(page.getByRole('status').filter({ hasText: 'agent-second is paused.' })).toBeVisible()
    await second.getByRole('button', { name: 'Resume' }).press('Enter')
    await expect(second.locator('.state')).toHaveText('online')

    await second.getByRole('button', { name: 'Change' }).press('Enter')
    await page.getByText('Options').click()
    await page.getByLabel('Description in the relay’s list').fill('Described')
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    expect(await agent.config()).toContain('description = "Described"')

    await second.getByRole('button', { name: 'Remove' }).press('Enter')
    await page
      .getByRole('dialog', { name: 'Are you sure?' })
      .getByRole('button', { name: 'Yes, do it' })
      .press('Enter')
    await expect(second).toHaveCount(0)
    expect(await agent.config()).not.toContain('agent-second')
    expect(await agent.config()).toContain('# kept')
    expect(errors).toEqual([])
  },
)

test('who may come in: by a password, which is stored as a hash and not shown again, until it is removed', async ({
  first,
  owner: { page, errors },
  agent,
  visitor,
}) => {
  const shown = card(page, first)
  const link = shown.getByRole('link', { name: new RegExp(`^https://${first}\\.`) })
  const url = (await link.getAttribute('href'))!
  const dialog = page.getByRole('dialog', { name: `Change ${first}` })
  const open = async (): Promise<void> => {
    await shown.getByRole('button', { name: 'Change' }).press('Enter')
    await dialog.getByText('Who may come in').press('Enter')
  }
  const save = async (): Promise<void> => {
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await expect(dialog).toHaveCount(0)
    await expect(shown.locator('.state')).toHaveText('online')
  }

  await open()
  await dialog.getByLabel('Password of all visitors', { exact: true }).fill('open sesame')
  await dialog.getByRole('button', { name: 'Add a user' }).press('Enter')
  await dialog.getByLabel('Name of the user').fill('alice')
  await dialog.getByLabel('Password of alice', { exact: true }).fill('hers')
  const rate = dialog.getByLabel('Most requests of each visitor')
  await rate.fill('fast')
  await dialog.getByRole('button', { name: 'Save' }).press('Enter')
  await expect(rate).toBeFocused()
  await expect(rate).toHaveAccessibleDescription(/must be like 10\/s/)
  await rate.fill('1000/s')
  await save()
  expect(await agent.config()).toMatch(/password = "scrypt:.*users = { alice = "scrypt:/)
  expect(await agent.config()).not.toMatch(/open sesame|hers/)

  await expect(async () => {
    await visitor.goto(`${url}/inside`)
    await expect(visitor.getByLabel('Password')).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await visitor.getByLabel('Password').fill('open barley')
  await visitor.getByLabel('Password').press('Enter')
  await expect(visitor.getByRole('alert')).toContainText('That is not right')
  await visitor.getByLabel('Password').fill('open sesame')
  await visitor.getByLabel('Password').press('Enter')
  await expect(visitor.getByText('from the target')).toBeVisible()

  await open()
  await expect(dialog.getByText('Password of all visitors: set')).toBeVisible()
  await expect(dialog.getByText('Password of alice: set')).toBeVisible()
  expect(await page.content()).not.toMatch(/scrypt:|open sesame/)
  await dialog.getByRole('button', { name: 'Replace: Password of all visitors' }).press('Enter')
  const replaced = dialog.getByLabel('Password of all visitors', { exact: true })
  await expect(replaced).toBeFocused()
  await dialog.getByRole('button', { name: 'Save' }).press('Enter')
  await expect(replaced).toHaveAccessibleDescription(/Type the new one/)
  await dialog.getByRole('button', { name: 'Keep it: Password of all visitors' }).press('Enter')
  for (const secret of ['Password of all visitors', 'Password of alice'])
    await dialog.getByRole('button', { name: `Remove: ${secret}` }).press('Enter')
  await rate.fill('')
  await save()
  expect(await agent.config()).not.toContain('access')
  await expect(async () => {
    await visitor.context().clearCookies()
    await visitor.goto(url)
    await expect(visitor.getByText('from the target')).toBeVisible({ timeout: 1_000 })
  }).toPass()
  // The browser itself logs the refusal.
  expect(errors).toEqual([expect.stringContaining('400')])
})

test('a domain of the owner: the terms to agree to, and the records to set, each with Copy', async ({
  first,
  owner: { page, errors },
  agent,
}, info) => {
  const shown = card(page, first)
  await shown.getByRole('button', { name: 'Change' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: `Change ${first}` })
  await expect(dialog.getByLabel(/I agree to the terms/)).toHaveCount(0)
  await dialog.getByText('Options').click()
  await dialog.getByLabel('Your own domains').fill('shop.example.test')
  await dialog.getByRole('button', { name: 'Save' }).press('Enter')
  await expect(dialog.getByRole('alert').filter({ hasText: 'Without your agreement' })).toBeVisible()
  await dialog.getByLabel('I agree to the terms of service of Let’s Encrypt').check()
  await dialog.getByRole('button', { name: 'Save' }).press('Enter')
  await expect(dialog).toHaveCount(0)
  expect(await agent.config()).toMatch(/domains = \[ ?"shop\.example\.test" ?\]\nacme_agree_terms = true/)
  const domain = shown.locator('.domain')
  await expect(domain.locator('.state')).toHaveText('needs records')
  await expect(domain.getByRole('listitem')).toHaveText([/^TXT/, /^A[^A]/, /^AAAA/, /^CNAME/])
  await expect(domain).toContainText(/_svc\.shop\.example\.test.*svc-address=0x[\da-f]{40}/)
  const copied = await expectCopies(page)
  expect(copied).toContain('_svc.shop.example.test')
  expect(copied).toContainEqual(expect.stringMatching(/^svc-address=0x/))
  await expectAccessible(page)
  await expectFits({ domain: page }, info, WIDTHS_PX)
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'says what the agent refuses, in the form and at the edge of the window',
  async ({ first, owner: { page, errors }, agent }) => {
    await page.getByRole('button', { name: 'Add a tunnel' }).click()
    await page.getByLabel('Name').fill(first)
    await page.getByLabel('Port or address').fill('3000')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expect(page.getByRole('dialog').getByRole('alert')).toContainText(first)
    await page.keyboard.press('Escape')
    await agent.edit(`${await agent.config()}\n# edited\n`)
    await page.getByRole('button', { name: 'Pause' }).click()
    const message = page.getByRole('status').filter({ hasText: 'svc.toml was edited meanwhile' })
    await message.getByRole('button', { name: 'Read it again' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'has read svc.toml again' })).toBeVisible()
    await page.getByLabel('Connect a relay for all tunnels').fill('https://127.0.0.1:1')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    const relays = page.getByRole('region', { name: 'Relays' })
    await expect(relays.getByRole('listitem')).toHaveCount(2)
    await relays.getByRole('button', { name: 'Leave https://127.0.0.1:1' }).click()
    await page.getByRole('button', { name: 'Yes, do it' }).click()
    await expect(relays.getByRole('listitem')).toHaveCount(1)
    expect(await agent.config()).toContain('# edited')
    // The browser itself logs each refusal.
    expect(errors).toEqual([expect.stringContaining('400'), expect.stringContaining('409')])
  },
)

wholeOnly(test, 'variant')(
  'a wallet may look, and change nothing; one whose user declines is let in nowhere',
  async ({ first, agent, context }) => {
    const wallet = await addTestWallet(context)
    const { page, errors } = await openWeb(context, agent.url)
    const button = page.getByRole('button', { name: 'Sign in with Test wallet' })
    wallet.rejects = true
    await button.click()
    await expect(page.getByText('You declined in your wallet.')).toBeVisible()
    wallet.rejects = false
    await button.click()
    await expect(card(page, first).locator('.state')).toHaveText('online')
    await expect(page.getByText('read only')).toBeVisible()
    for (const name of ['Add a tunnel', 'Pause', 'Remove', 'Connect', 'Shut down'])
      await expect(page.getByRole('button', { name })).toHaveCount(0)
    expect(wallet.signed).toEqual([expect.stringContaining(new URL(agent.url).host)])
    expect(errors).toEqual([])
  },
)

wholeOnly(test, 'variant')(
  'a wallet that svc.toml does not name is told so, as soon as the file was read again',
  async ({ owner, agent, context }) => {
    const other = `0x${'1'.repeat(40)}`
    await agent.edit((await agent.config()).replace('[agent]', `[agent]\nallowed_wallets = ["${other}"]`))
    await owner.page.getByRole('button', { name: 'Read svc.toml again' }).click()
    await expect(owner.page.getByRole('status').filter({ hasText: 'has read svc.toml again' })).toBeVisible()
    const wallet = await addTestWallet(context)
    const { page, errors } = await openWeb(context, agent.url)
    await page.getByRole('button', { name: 'Sign in with Test wallet' }).click()
    await expect(page.getByText('The agent does not accept this wallet')).toBeVisible()
    expect(wallet.signed).toEqual([])
    // The browser itself logs a 403.
    expect(errors).toEqual([expect.stringContaining('403')])
  },
)

wholeOnly(test, 'variant')(
  'an agent that ends and comes back: older data, then a new sign-in',
  async ({ first, owner: { page }, agent }) => {
    await agent.kill()
    await expect(page.getByText('The agent does not answer. This page shows older data')).toBeVisible()
    await expect(card(page, first)).toBeVisible()
    await agent.start()
    await expect(page.getByRole('alert')).toContainText('The sign-in has expired, or the agent was restarted')
  },
)

wholeOnly(test, 'appearance')(
  'nothing from elsewhere is loaded; it fits every width in both themes, nothing jumps, and axe-core finds nothing',
  async ({ first, agent, context }, info) => {
    const { page, errors } = await openWeb(context, agent.url)
    await expectAccessible(page)
    await expectFits({ 'sign-in': page }, info, WIDTHS_PX)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).origin))
    await page.goto('about:blank')
    await page.goto(await agent.pageWithTicket())
    await expect(card(page, first).locator('.state')).toHaveText('online')
    expect(new Set(asked)).toEqual(new Set([agent.url]))
    expect(await layoutShift(page)).toBeLessThan(0.02)
    await expectAccessible(page)
    await expectFits({ tunnels: page }, info, WIDTHS_PX)
    await page.getByRole('button', { name: 'Add a tunnel' }).click()
    await page.getByText('Who may come in').click()
    await page.getByRole('button', { name: 'Add a user' }).click()
    await page.getByLabel('Closes').selectOption('at a time …')
    await expectAccessible(page)
    await expectFits({ form: page }, info, WIDTHS_PX)
    expect(errors).toEqual([])
  },
)
