// The relay's landing page: a visitor publishes from this very tab, three things, and learns how to from elsewhere.

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectAccessiblePart, expectFits, PHONE_PX } from './support/example-page.ts'
import { headingOf, requestsIn } from './support/inspector-page.ts'
import { keptFiles } from './support/kept-files.ts'
import { startNamedRelay } from './support/named-relay.ts'
import { layoutShift, type OpenedPage, openWeb, WIDTHS_PX } from './support/relay-page.ts'

const test = base.extend<{
  context: BrowserContext
  landing: OpenedPage & { publish(what: string): Promise<string> }
}>({
  context: async ({ browser }, use) => {
    const context = await browser.newContext()
    await use(context)
    await context.close()
  },
  landing: async ({ context, relay }, use) => {
    const opened = await openWeb(context, relay.url)
    const publish = async (what: string): Promise<string> => {
      await opened.page.getByRole('radio', { name: what }).check()
      await opened.page.getByRole('button', { name: 'Publish' }).click()
      await expect(opened.page.locator('.publish .state')).toHaveText('online')
      return (await opened.page.locator('.address a').textContent()) ?? ''
    }
    await use({ ...opened, publish })
    expect(opened.errors).toEqual([])
  },
})

/** Drops a file on the title of the page. */
async function drop(page: Page, file: string): Promise<void> {
  const { x, y } = (await page.getByRole('heading', { level: 1 }).boundingBox())!
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + 20, y: y + 20, data })
}

/** Calls a tool server as an assistant does. */
async function callMcp(caFile: string, url: string, method: string, params: object = {}) {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return JSON.parse(
    String(await curl(caFile, '-H', 'Content-Type: application/json', '-d', message, `${url}/`)),
  )
}

/** @returns the text that a tool answers with */
async function callTool(caFile: string, url: string, params: object): Promise<string> {
  return (await callMcp(caFile, url, 'tools/call', params)).result.content[0].text
}

test('a note: published at once, visited, kept while its owner looks around, stopped', async ({
  landing: { page, publish },
  relay,
  visitor,
}) => {
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused()
  const url = await publish('Note')
  // The button is gone: the keyboard goes on at the address, and Copy is beside it.
  await expect(page.getByRole('link', { name: url, exact: true })).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Copy the address' })).toBeFocused()
  await expect(page.getByText('only this machine can open the address')).toBeVisible()
  await expect(page.getByRole('img', { name: /QR code/ })).toHaveCount(0)
  await visitor.goto(url)
  await expect(visitor.getByRole('heading')).toHaveText('Hello from a browser tab')
  await expect(page.locator('.count')).toHaveText('1')
  await expect(page.locator('.visits')).toContainText('GET /')
  await expect(page.locator('.request')).toContainText('user-agent: Mozilla')
  // A record of TLS, as the relay carries it: its type, and version 3.3.
  await expect(page.locator('.hexdump')).toContainText(/^0000 {2}17 03 03 /)

  await page.getByLabel('Text or HTML').fill('<title>Mine</title><b>my page</b>')
  await visitor.reload()
  await expect(visitor).toHaveTitle('Mine')
  await page.getByLabel('Text or HTML').fill('Lunch & more\n\nat <noon>')
  await visitor.reload()
  await expect(visitor.getByRole('heading')).toHaveText('Lunch & more')
  await expect(visitor.locator('.note')).toHaveText('at <noon>')
  await page.getByRole('link', { name: 'See the published sites' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sites')
  await expect(page).toHaveURL(`${relay.url}/sites`)
  expect(String(await curl(relay.caFile, url))).toContain('You are visitor 4.')
  // What is not there, and what browsers ask for beside a page, is no visit.
  await curl(relay.caFile, `${url}/favicon.ico`, `${url}/none`)
  await page.goBack()
  await expect(page.locator('.count')).toHaveText('4')

  expect(await expectCopies(page)).toContain(url)
  await page.getByRole('button', { name: 'Stop' }).click()
  // The keyboard goes on where one publishes, and nothing is left of what passed.
  await expect(page.getByRole('button', { name: 'Publish' })).toBeFocused()
  await expect(page.getByText('No traffic yet.')).toBeVisible()
  await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')
})

test('a password, chosen by keyboard: a visitor signs in, and a reload leaves it as it is', async ({
  landing: { page, publish },
  visitor,
}) => {
  await page.getByText('Options').press('Enter')
  const password = page.getByLabel('Password for visitors', { exact: true })
  await password.fill('scrypt:a')
  await page.getByRole('button', { name: 'Publish' }).press('Enter')
  await expect(password).toBeFocused()
  await expect(password).toHaveAccessibleDescription(/cannot be a password/)
  await expectAccessiblePart(page, '.publish')
  await password.fill('open sesame')
  await page.getByLabel('Closes').selectOption('after 8 hours')
  const url = await publish('Note')
  await expect(page.getByText('Visitors need the password.')).toBeVisible()
  await expect(page.getByText(/^Closes at /)).toBeVisible()
  await page.reload()
  await expect(page.locator('.publish .state')).toHaveText('online')

  await visitor.goto(url)
  await visitor.getByLabel('Password').fill('open barley')
  await visitor.getByLabel('Password').press('Enter')
  await expect(visitor.getByRole('alert')).toContainText('That is not right')
  await visitor.getByLabel('Password').fill('open sesame')
  await visitor.getByLabel('Password').press('Enter')
  await expect(visitor.getByRole('heading')).toHaveText('Hello from a browser tab')

  await page.getByRole('button', { name: 'Stop' }).click()
  // Publishing again keeps the password.
  await expect(password).toHaveValue('open sesame')
})

test('a site whose time is over is closed, its page says so, and a reload does not bring it back', async ({
  landing: { page, publish },
  relay,
}) => {
  await page.clock.install()
  await page.reload()
  await page.getByText('Options').click()
  await page.getByLabel('Closes').selectOption('after 1 hour')
  const url = await publish('Note')
  expect(String(await curl(relay.caFile, url))).toContain('Hello from a browser tab')
  await page.clock.fastForward('01:00:01')
  await expect(page.getByText('The site has closed: its time is over.')).toBeVisible()
  await expect(curl(relay.caFile, url)).rejects.toThrow('curl: (')
  await page.reload()
  await expect(page.getByRole('button', { name: 'Publish' })).toBeVisible()
  await expect(page.locator('.publish .state')).toHaveCount(0)
})

wholeOnly(test, 'variant')(
  'it is in the list of sites when its owner says so',
  async ({ landing: { page, publish }, relay }) => {
    const listed = async (): Promise<string> => String(await curl(relay.caFile, `${relay.url}/api/state`))
    const { hostname } = new URL(await publish('Note'))
    expect(await listed()).not.toContain(hostname)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Options').click()
    await page.getByLabel('Show it in the list of sites').check()
    expect(new URL(await publish('Note')).hostname).toBe(hostname)
    expect(await listed()).toContain(hostname)
  },
)

test('a name: kept by the browser, and of two tabs the second says that it is taken', async ({
  context,
  landing: { page, publish, errors },
  relay,
}) => {
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('-no')
  await page.getByRole('button', { name: 'Publish' }).press('Enter')
  await expect(name).toBeFocused()
  await expect(name).toHaveAccessibleDescription(/1 to 22 letters/)
  await name.fill('My-Tab')
  const url = await publish('Note')
  expect(new URL(url).hostname).toBe(`my-tab.${new URL(relay.url).hostname}`)

  const other = await openWeb(context, relay.url)
  await other.page.getByRole('button', { name: 'Publish' }).click()
  await expect(other.page.getByText('That name is in use by another tab of yours.')).toBeVisible()
  await expect(other.page.getByRole('textbox', { name: 'Name' })).toHaveValue('my-tab')
  // The first one has it still, also after a reload.
  await page.reload()
  await expect(page.locator('.address a')).toHaveText(url)
  await expect(page.locator('.publish .state')).toHaveText('online')
  await page.close()
  await other.page.getByRole('button', { name: 'Publish' }).click()
  await expect(other.page.locator('.address a')).toHaveText(url)
  await expect(other.page.locator('.publish .state')).toHaveText('online')

  // An owner who no longer keeps the name can still publish it: nobody else has it.
  await other.page.getByRole('button', { name: 'Stop' }).click()
  await other.page.getByRole('textbox', { name: 'Name' }).fill('my-tab')
  await other.page.getByText('Options').click()
  await other.page.getByLabel('Keep my name').uncheck()
  await other.page.getByRole('button', { name: 'Publish' }).click()
  await expect(other.page.locator('.address a')).toHaveText(url)
  await expect(other.page.locator('.publish .state')).toHaveText('online')

  // Another browser does not get it, and reads why.
  const stranger = await openWeb(await context.browser()!.newContext(), relay.url)
  await stranger.page.getByRole('textbox', { name: 'Name' }).fill('my-tab')
  await stranger.page.getByText('Options').click()
  await stranger.page.getByLabel('Keep my name').uncheck()
  await stranger.page.getByRole('button', { name: 'Publish' }).click()
  await expect(stranger.page.getByText('Somebody else has this name')).toBeVisible()
  await stranger.page.getByRole('textbox', { name: 'Name' }).fill('admin')
  await stranger.page.getByRole('button', { name: 'Publish' }).click()
  await expect(stranger.page.getByText('This relay reserves that name.')).toBeVisible()
  await stranger.page.getByRole('textbox', { name: 'Name' }).fill('')
  await stranger.page.getByRole('button', { name: 'Publish' }).click()
  await expect(stranger.page.locator('.publish .state')).toHaveText('online')
  const byChance = await stranger.page.locator('.address a').textContent()
  await stranger.page.reload()
  await expect(stranger.page.locator('.address a')).toHaveText(byChance!)
  await stranger.page.context().close()
  expect([...errors, ...other.errors]).toEqual([])
})

test('leaving asks while a visitor is connected, and only then', async ({
  landing: { page, publish, errors },
  visitor,
}) => {
  const url = await publish('Note')
  await page.reload()
  await expect(page.locator('.publish .state')).toHaveText('online')
  expect(errors).toEqual([])
  await visitor.goto(url)
  await page.getByLabel('Text or HTML').click()
  const asked = page.waitForEvent('dialog')
  const left = page.close({ runBeforeUnload: true })
  expect((await asked).type()).toBe('beforeunload')
  await left
  // It was dismissed: the site is still there.
  await visitor.reload()
  await expect(visitor.getByRole('heading')).toHaveText('Hello from a browser tab')
  expect(errors.splice(0)).toEqual(['dialog: '])
})

test('a folder: never online empty, downloaded from this tab at an address that is not listed, back after a reload', async ({
  landing: { page, publish },
  relay,
}) => {
  await page.getByRole('radio', { name: 'Folder' }).check()
  await page.getByRole('button', { name: 'Publish' }).press('Enter')
  await expect(page.getByText('a folder is not published empty')).toBeVisible()
  await expect(page.locator('.publish .state')).toHaveCount(0)
  const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('mine') }
  await page.getByLabel('Choose files').setInputFiles([file])
  const url = await publish('Folder')
  await expect(page.getByText('1 file: notes.txt')).toBeVisible()
  expect(String(await curl(relay.caFile, `${url}/notes.txt`))).toBe('mine')
  expect(String(await curl(relay.caFile, `${relay.url}/api/state`))).not.toContain(new URL(url).hostname)
  await page.getByLabel('Choose files').setInputFiles([{ ...file, name: 'more.txt' }])
  await expect(page.getByText('2 files: notes.txt, more.txt')).toBeVisible()
  await expect.poll(() => page.evaluate(keptFiles)).toBe(2)
  await page.reload()
  await expect(page.locator('.publish .state')).toHaveText('online')
  expect(String(await curl(relay.caFile, `${url}/more.txt`))).toBe('mine')
  // What was stopped is forgotten.
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(page.getByText('Or drop files or a folder here.')).toBeVisible()
  await expect.poll(() => page.evaluate(keptFiles)).toBe(0)
})

wholeOnly(test, 'variant')(
  'files that are dropped anywhere on the page are the folder, and none takes the place of the page',
  async ({ landing: { page, publish }, relay }, info) => {
    const file = info.outputPath('dropped.txt')
    await writeFile(file, 'dropped')
    await drop(page, file)
    await expect(page.getByRole('radio', { name: 'Folder' })).toBeChecked()
    await expect(page.getByText('1 file: dropped.txt')).toBeVisible()
    const url = await publish('Folder')
    expect(String(await curl(relay.caFile, `${url}/dropped.txt`))).toBe('dropped')
    await page.getByRole('button', { name: 'Stop' }).click()
    const note = await publish('Note')
    await drop(page, file)
    await page.keyboard.press('Escape')
    expect(String(await curl(relay.caFile, note))).toContain('Hello from a browser tab')
  },
)

wholeOnly(test, 'variant')(
  'visitors read the name of the folder that was chosen, also after a reload',
  async ({ landing: { page, publish }, visitor }, info) => {
    const folder = info.outputPath('Holiday 2026')
    await mkdir(path.join(folder, 'sub'), { recursive: true })
    await writeFile(path.join(folder, 'sub/deep.txt'), 'deep')
    await page.getByRole('radio', { name: 'Folder' }).check()
    await page.getByLabel('Choose a folder').setInputFiles(folder)
    const url = await publish('Folder')
    await expect(page.getByText('1 file: Holiday 2026')).toBeVisible()
    await expect.poll(() => page.evaluate(keptFiles)).toBe(1)
    await page.reload()
    await expect(page.locator('.publish .state')).toHaveText('online')
    await visitor.goto(url)
    await expect(visitor).toHaveTitle(/Holiday 2026/)
    await expect(visitor.getByRole('heading', { level: 1 })).toContainText('Holiday 2026')
  },
)

wholeOnly(test, 'variant')(
  'a webhook inspector: by keyboard alone, what came is shown in full, repeated, and kept while its owner looks around',
  async ({ landing: { page, publish }, relay }) => {
    const url = await publish('Webhooks')
    await expect(page.getByText('No requests yet.')).toBeVisible()
    const body = '<img src=x onerror=alert(1)>'
    const sent = ['-H', 'Content-Type: text/plain', '-d', body, `${url}/hook?x=1`]
    expect(String(await curl(relay.caFile, ...sent))).toBe('Received\n')
    await expect(requestsIn(page)).toHaveText([/^200 POST \/hook\?x=1/])
    await page.keyboard.press('j')
    await expect(headingOf(page, 'POST /hook?x=1')).toBeVisible()
    await expect(page.locator('.live').getByRole('tabpanel')).toContainText(body)
    await page.keyboard.press('r')
    await expect(requestsIn(page)).toHaveText([/· replay$/, /^200 POST/])
    await page.keyboard.press('d')
    await expect(page.getByRole('dialog')).toContainText('The bodies are the same.')
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'See the published sites' }).press('Enter')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sites')
    await curl(relay.caFile, `${url}/meanwhile`)
    await page.goBack()
    await expect(requestsIn(page)).toHaveText([/^200 GET \/meanwhile/, /· replay$/, /^200 POST/])

    // A reload keeps them, also those that came before the one that was loaded last.
    await curl(relay.caFile, '-H', 'Content-Type: application/json', '-d', '{"paid":[1,2]}', `${url}/json`)
    for (const _ of [1, 2]) {
      await page.reload()
      await expect(requestsIn(page)).toHaveText([/POST \/json/, /\/meanwhile/, /POST \/hook/, /POST \/hook/])
    }
    await requestsIn(page).first().press('Enter')
    await expect(page.locator('.live').getByRole('tabpanel').locator('pre').first()).toHaveText(
      /^\{\s+"paid": \[\s+1,/,
    )
    await page.getByRole('button', { name: 'Forget them now' }).press('Enter')
    await expect(requestsIn(page)).toHaveCount(0)
    expect(await page.evaluate(() => sessionStorage.getItem('svc-landing-requests'))).toBeNull()
    await page.getByRole('button', { name: 'Stop', exact: true }).press('Enter')
    await expect(requestsIn(page)).toHaveCount(0)
  },
)

wholeOnly(test, 'variant')(
  'single keys are turned off, and stay so',
  async ({ landing: { page, publish }, relay }) => {
    const url = await publish('Webhooks')
    await curl(relay.caFile, `${url}/hook`)
    await requestsIn(page).press('Enter')
    await page.keyboard.press('?')
    const keys = page.getByRole('checkbox', { name: 'Letters, / and ? work as keys' })
    await keys.press('Space')
    await page.keyboard.press('Escape')
    for (const key of ['r', 'j', '?', '/']) await page.keyboard.press(key)
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(requestsIn(page)).toHaveCount(1)
    await page.reload()
    await expect(page.locator('.publish .state')).toHaveText('online')
    await expect(requestsIn(page)).toHaveCount(1)
    await page.keyboard.press('?')
    await page.getByRole('button', { name: 'Keys' }).press('Enter')
    await expect(keys).not.toBeChecked()
    await keys.press('Space')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await expect(headingOf(page, 'GET /hook')).toBeVisible()
  },
)

wholeOnly(test, 'appearance')(
  'the webhook inspector fits every width in both themes, and axe-core finds nothing',
  async ({ landing: { page, publish }, relay }, info) => {
    const url = await publish('Webhooks')
    await expect(page.getByText('No requests yet.')).toBeVisible()
    await expectFits({ empty: page }, info, WIDTHS_PX)
    await curl(relay.caFile, '-d', 'body', `${url}/${'long'.repeat(40)}`)
    await expect(requestsIn(page)).toHaveCount(1)
    await expectFits({ list: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    await requestsIn(page).press('Enter')
    await expect(headingOf(page, 'POST /long')).toBeVisible()
    await expectFits({ request: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    await page.setViewportSize({ width: PHONE_PX, height: 800 })
    // On a phone one is behind the other, and the focus follows.
    await page.getByRole('button', { name: 'Back to the list' }).press('Enter')
    await expect(requestsIn(page)).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(headingOf(page, 'POST /long')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(requestsIn(page)).toBeFocused()
  },
)

test('a chat and a tool server: the owner talks with visitors, and answers an assistant', async ({
  landing: { page, publish },
  relay,
  visitor,
}) => {
  await visitor.goto(await publish('Chat'))
  await visitor.getByLabel('Your name').fill('<b>Ann</b>')
  await visitor.getByRole('button', { name: 'Join' }).click()
  await expect(page.locator('#people li')).toHaveText(['Host (you)', '<b>Ann</b>'])
  await page.getByLabel('Message', { exact: true }).fill('welcome')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(visitor.locator('#messages li p:last-child')).toHaveText('welcome')
  await page.getByRole('button', { name: 'Stop' }).click()

  const url = await publish('Tools')
  const [, configuration] = await expectCopies(page)
  expect(JSON.parse(configuration!).mcpServers.tab).toEqual({ type: 'http', url: `${url}/` })
  const show = { name: 'show', arguments: { text: '<img src=x>' } }
  expect(await callTool(relay.caFile, url, show)).toBe('The person sees it.')
  await expect(page.getByRole('log', { name: 'Calls' })).toContainText('<img src=x>')
  const asked = callTool(relay.caFile, url, { name: 'ask', arguments: { question: 'Tea or coffee?' } })
  await page.getByLabel('Answer to: Tea or coffee?').fill('tea')
  await page.keyboard.press('Enter')
  expect(await asked).toBe('tea')
  await visitor.goto(url)
  await expect(visitor.getByRole('heading')).toHaveText('A tool server in a browser tab')
})

test('three tabs of code: each is copied as it is shown, and works where it is pasted', async ({
  landing: { page },
  pageServer,
  relay,
  visitor,
}) => {
  const [code] = await expectCopies(page)
  await page.getByRole('tab', { name: 'A page' }).press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'svc' })).toBeFocused()
  // The page loads the other tabs later.
  await expect(page.getByRole('button', { name: 'Copy the command' })).toBeVisible()
  const [command] = await expectCopies(page)
  expect(command).toBe(`svc expose 3000 --relay ${relay.url} --ca svc-ca.pem`)
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'MCP' }).click()
  await expect(page.getByRole('button', { name: 'Copy the code of the tool server' })).toBeVisible()
  const [tools] = await expectCopies(page)

  const run = async (html: string): Promise<string> => {
    await visitor.goto(pageServer.url)
    await visitor.setContent(html)
    const body = visitor.locator('body')
    await expect(body).toContainText('https://')
    return /https:\/\/[\w.:-]+/.exec((await body.textContent())!)![0]
  }
  expect(String(await curl(relay.caFile, await run(code!)))).toBe('Hello\n')
  const url = await run(tools!)
  await expect(visitor.locator('body')).toContainText(`claude mcp add --transport http dice ${url}/`)
  const listed = await callMcp(relay.caFile, url, 'tools/list')
  expect(listed.result.tools).toEqual([expect.objectContaining({ name: 'dice' })])
  expect(await callTool(relay.caFile, url, { name: 'dice', arguments: { count: 3 } })).toMatch(
    /^[1-6] [1-6] [1-6]$/,
  )
})

wholeOnly(test, 'variant')(
  'it says how from a machine and from code, with the address of this relay',
  async ({ landing: { page }, relay }) => {
    await page.getByText('With integrity').click()
    await expect(page.getByLabel('The code with integrity', { exact: true })).toBeVisible()
    const [code, pinned] = await expectCopies(page)
    expect(code).toContain(`relay: '${relay.url}'`)
    expect(pinned).toContain(String(await curl(relay.caFile, `${relay.url}/sdk/importmap.json`)).trim())
    await page.getByRole('tab', { name: 'svc' }).click()
    await page.getByText('Install svc', { exact: true }).click()
    await expect(page.getByText('This relay has no downloads of svc.')).toBeVisible()
    expect(await expectCopies(page)).toHaveLength(1)
    for (const link of await page.getByRole('link', { name: /examples/i }).all())
      expect(await link.getAttribute('href')).toBe('/examples/')
  },
)

wholeOnly(test, 'appearance')(
  'nothing jumps; it fits every width in both themes, and axe-core finds nothing, before and after',
  async ({ landing: { page, publish } }, info) => {
    expect(await layoutShift(page)).toBeLessThan(0.01)
    await expectFits({ landing: page }, info, WIDTHS_PX)
    await page.getByText('With integrity').click()
    await page.getByText('Options').click()
    await expectAccessible(page)
    await expectFits({ access: page }, info, WIDTHS_PX)
    for (const way of ['svc', 'MCP']) {
      await page.getByRole('tab', { name: way }).click()
      await expect(page.getByRole('tabpanel').locator('pre')).toBeVisible()
      await expectFits({ [way]: page }, info, WIDTHS_PX)
      await expectAccessiblePart(page, '.code')
    }
    await page.getByRole('radio', { name: 'Folder' }).check()
    await expectFits({ folder: page }, info, WIDTHS_PX)
    await expectAccessiblePart(page, '.publish')
    for (const kind of ['Note', 'Chat', 'Tools']) {
      await publish(kind)
      await expectFits({ [kind]: page }, info, WIDTHS_PX)
      await expectAccessiblePart(page, 'main')
      await page.getByRole('button', { name: 'Stop' }).click()
    }
  },
)

wholeOnly(test, 'variant')(
  'at a relay that phones can reach, a site has its QR code while it is online',
  async ({ playwright }) => {
    const named = await startNamedRelay(playwright.chromium)
    const { page, errors } = await openWeb(await named.browser.newContext(), named.url)
    await page.getByRole('button', { name: 'Publish' }).click()
    await expect(page.locator('.publish .state')).toHaveText('online')
    const url = (await page.locator('.address a').textContent()) ?? ''
    // The code and the second link lead to the site through the relay, which waits for it while it is away.
    const link = (await page.locator('.share a').textContent()) ?? ''
    expect(link).toBe(`${named.url}/go/${new URL(url).hostname.split('.')[0]}`)
    const code = page.getByRole('img', { name: `QR code of ${link}` })
    await expect(code).toHaveCSS('opacity', '1')
    await expect(page.getByText('Open it on your phone')).toBeVisible()
    await page.getByRole('tab', { name: 'svc' }).click()
    await expect(page.getByText('svc expose')).toBeVisible()
    expect(await expectCopies(page)).toEqual([url, link, `svc expose 3000 --relay ${named.url}`])
    await named.stop()
    await expect(page.locator('.publish .state')).toHaveText('reconnecting')
    await expect(
      page.getByText(/^Visitors cannot connect: the relay does not answer\. Trying again/),
    ).toBeVisible()
    // The browser knows before the SDK does, and says so in words.
    await page.context().setOffline(true)
    await expect(page.getByText(/^You are offline\. Trying again (?:in \d+ s\.|…)$/)).toBeVisible()
    await page.context().setOffline(false)
    await expect(page.getByText('Open it on your phone')).toHaveCount(0)
    await expect(code).toHaveCSS('opacity', '0.15')
    await expect(page.locator('.publish .error')).toHaveText('')
    // The browser itself logs what it cannot reach.
    for (const error of errors) expect(error).toMatch(/net::ERR_(?:CONNECTION|INTERNET_DISCONNECTED)/)
    await named.close()
  },
)
