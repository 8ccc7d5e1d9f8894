// The page of the inspector at a real `svc expose --inspect`, and at an agent: by keyboard alone, from a list to a request, its replay,
// a comparison, a command and a file.
import { readFile } from 'node:fs/promises'
import type { BrowserContext } from '@playwright/test'
import { descriptorSet } from '../sdk-core/test/inspector/protobuf-set.ts'
import { freePort } from '../tools/network/free-port.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { startAgent } from './support/agent-process.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { type InspectedCommand, startInspected } from './support/inspected-command.ts'
import { headingOf, requestsIn, saying } from './support/inspector-page.ts'
import { type OpenedPage, openWeb } from './support/relay-page.ts'

const WIDTHS_PX = [360, 768, 1440]
const MASK = '••••••'
const BODY = '{"html":"<img src=x onerror=alert(1)>"}'

interface Fixtures {
  command: InspectedCommand
  context: BrowserContext
  opened: OpenedPage
  /** Sends a webhook and a request for what is missing. */
  send(): Promise<void>
}

let commands = 0

const test = base.extend<Fixtures>({
  command: async ({ relay }, use) => {
    const command = await startInspected(relay, `inspected-${++commands}`)
    await use(command)
    await command.stop()
  },
  context: async ({ browser }, use) => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    await use(context)
    await context.close()
  },
  opened: async ({ context, command }, use) => {
    await use(await openWeb(context, command.inspector))
  },
  send: async ({ relay, command: { url } }, use) => {
    await use(async () => {
      const fields = ['-H', 'Content-Type: application/json', '-H', 'Authorization: Bearer secret']
      await curl(relay.caFile, ...fields, '-d', BODY, `${url}/hook?token=abc&x=1`)
      await curl(relay.caFile, `${url}/missing`)
    })
  },
})

test('by keyboard alone: requests appear, are filtered, opened, replayed, edited, compared, copied and saved', async ({
  opened: { page, errors },
  command: { got },
  send,
}) => {
  await expect(page.getByText('No requests yet.')).toBeVisible()
  await send()
  await expect(requestsIn(page)).toHaveText([/^404 GET \/missing/, /^200 POST \/hook/])

  await page.keyboard.press('/')
  await page.keyboard.type('POST 2xx /hook onerror')
  await expect(requestsIn(page)).toHaveCount(1)
  await page.keyboard.press('Enter')
  await page.keyboard.press('j')
  await expect(headingOf(page, `POST /hook?token=${MASK}&x=1`)).toBeVisible()
  await expect(page.getByRole('tabpanel')).toContainText('"html": "<img src=x onerror=alert(1)>"')
  await expect(page.getByRole('tabpanel')).toContainText(`Bearer ${MASK}`)
  await page.keyboard.press('Enter')
  await expect(headingOf(page, 'POST /hook')).toBeFocused()

  await page.keyboard.press('r')
  await expect(saying(page, 'Replayed.')).toBeVisible()
  await expect(requestsIn(page)).toHaveText([/· replay$/, /^200 POST \/hook/])
  expect(got.at(-1)).toEqual({ line: 'POST /hook?token=abc&x=1', authorization: 'Bearer secret', body: BODY })

  await page.keyboard.press('d')
  const comparison = page.getByRole('dialog', { name: 'Compare answers' })
  await expect(comparison.getByRole('region')).toHaveText(/− .*"number": 1,\s+\+ .*"number": 3,/)
  await page.keyboard.press('Escape')
  await expect(comparison).toHaveCount(0)
  await expect(headingOf(page, 'POST /hook')).toBeFocused()

  await page.keyboard.press('e')
  const form = page.getByRole('dialog', { name: 'Edit and replay' })
  await expect(form.getByLabel('Method')).toBeFocused()
  for (let tabs = 0; tabs < 3; tabs += 1) await page.keyboard.press('Tab')
  await expect(form.getByLabel('Body')).toBeFocused()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('edited')
  await page.keyboard.press('Tab')
  await page.keyboard.type('2')
  await page.keyboard.press('Enter')
  await expect(saying(page, 'Replaying 2 times.')).toBeVisible()
  await expect.poll(() => got.length).toBe(5)
  expect(got.at(-1)).toMatchObject({ authorization: 'Bearer secret', body: 'edited' })

  await expect(page.getByRole('tabpanel')).toContainText('edited')
  await page.keyboard.press('c')
  await expect(saying(page, 'Copied curl. Its secrets are masked')).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl .*Bearer ••••••.*edited'/)
  expect(errors).toEqual([])
})

test('secrets are shown when they are asked for, a link leads to one request, and single keys stay off', async ({
  opened: { page, errors },
  send,
}) => {
  await send()
  await requestsIn(page).last().press('Enter')
  await expect(page.getByRole('tabpanel')).toContainText(`Bearer ${MASK}`)
  const secrets = page.getByRole('button', { name: 'Show secrets' })
  await secrets.press('Enter')
  await expect(page.getByRole('tabpanel')).toContainText('Bearer secret')
  await expect(headingOf(page, 'POST /hook?token=abc&x=1')).toBeVisible()
  await page.getByRole('button', { name: 'Copy as curl' }).press('Enter')
  await expect(saying(page, 'Copied curl.')).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('Bearer secret')
  await page.getByRole('button', { name: 'Keys' }).press('Enter')
  const keys = page.getByRole('checkbox', { name: 'Letters, / and ? work as keys' })
  const saved = page.waitForResponse((response) => response.request().method() === 'POST')
  await keys.press('Space')
  await saved
  await page.reload()
  await expect(headingOf(page, `POST /hook?token=${MASK}&x=1`)).toBeVisible()
  for (const key of ['?', 'r']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Keys' }).press('Enter')
  await expect(keys).not.toBeChecked()
  await page.keyboard.press('Escape')
  await expect(requestsIn(page)).toHaveCount(2)
  await page.getByRole('tab', { name: 'Request' }).press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Answer' })).toBeFocused()
  await expect(page.getByRole('tabpanel')).toContainText('"number": 1')
  expect(errors).toEqual([])
})

test('protobuf is shown by number, and by the types of a file that is chosen', async ({
  relay,
  opened: { page, errors },
  command: { url },
}) => {
  // Field 2 is "testing": the protobuf documentation, page "Encoding".
  const body = ['--data-raw', '\x12\x07testing', '-H', 'Content-Type: application/x-protobuf']
  await curl(relay.caFile, ...body, `${url}/test.Echo/Unary`)
  await requestsIn(page).first().press('Enter')
  await expect(page.getByRole('tabpanel')).toContainText('2: "testing"')
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Open a protobuf descriptor' }).press('Enter')
  const buffer = Buffer.from(descriptorSet())
  await (await chooser).setFiles({ name: 'types.binpb', mimeType: 'application/octet-stream', buffer })
  await expect(saying(page, '4 message types are known.')).toBeVisible()
  await expect(page.getByRole('tabpanel')).toContainText(/test\.Test2\s*{\s*"b": "testing"/)
  const text = Buffer.from('syntax = "proto3";')
  await page
    .getByLabel('Open a protobuf descriptor')
    .last()
    .setInputFiles({ name: 'a.proto', mimeType: 'text/plain', buffer: text })
  await expect(saying(page, 'cannot be read as a FileDescriptorSet')).toBeVisible()
  await expect(page.getByRole('tabpanel')).toContainText('test.Test2')
  const unsaid = ['--data-raw', '\x12\x07testing', '-H', 'Content-Type: application/x-protobuf']
  await curl(relay.caFile, ...unsaid, `${url}/hook`)
  await expect(requestsIn(page)).toHaveCount(2)
  await requestsIn(page).first().press('Enter')
  await expect(page.getByRole('tabpanel')).toContainText('the type of the message is not known')
  await page.getByLabel('Type of the message').selectOption('test.Test2')
  await expect(page.getByRole('tabpanel')).toContainText(/test\.Test2[\s\S]*"b": "testing"/)
  await expectAccessible(page)
  // The browser notes the answer to the wrong file.
  expect(errors).toEqual([expect.stringContaining('400 (Bad Request)')])
})

wholeOnly(test, 'variant')(
  'a pause, a HAR that is saved and opened again, and a list that is cleared',
  async ({ opened: { page, errors }, send }) => {
    await send()
    await expect(requestsIn(page)).toHaveCount(2)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as HAR' }).first().press('Enter')
    const file = await (await download).path()
    expect(JSON.parse(await readFile(file, 'utf8')).log.entries).toHaveLength(2)

    await page.getByRole('button', { name: 'Pause' }).press('Enter')
    await expect(page.getByText('Paused: requests pass without being recorded.')).toBeVisible()
    await send()
    await expect(page.getByText('2 were not recorded during a pause')).toBeVisible()
    await page.getByRole('button', { name: 'Record again' }).press('Enter')
    await page.getByRole('button', { name: 'Clear' }).press('Enter')
    await page.getByRole('button', { name: 'Yes, do it' }).press('Enter')
    await expect(requestsIn(page)).toHaveCount(0)

    await page.getByLabel('Open a HAR').setInputFiles(file)
    await expect(saying(page, '2 requests are added.')).toBeVisible()
    await expect(requestsIn(page)).toHaveText([/from a file$/, /from a file$/])
    expect(errors).toEqual([])
  },
)

wholeOnly(test, 'variant')(
  'the page of an agent has it for a tunnel from the moment when its owner says so',
  async ({ relay, command, context }) => {
    const port = await freePort()
    const agent = await startAgent(
      `relay = "${relay.url}"\nca = "${relay.caFile}"\n\n[agent]\ncontrol_addr = "127.0.0.1:${port}"\n\n[[tunnel]]\nname = "inspected-agent"\nhttp = "${command.target}"\n`,
    )
    const { page, errors } = await openWeb(context, await agent.pageWithTicket())
    const link = page.getByRole('link', { name: /^https:\/\/inspected-agent\./ })
    const visit = async (path: string) => curl(relay.caFile, (await link.getAttribute('href')) + path)
    const open = (name: string) => page.getByRole('link', { name }).press('Enter')
    await visit('/before')
    await open('Requests')
    await expect(page.getByRole('alert')).toContainText('The agent records no requests')
    await open('Tunnels')
    await page.getByRole('button', { name: 'Record requests inspected-agent' }).press('Enter')
    await expect(saying(page, 'Requests of inspected-agent are recorded')).toBeVisible()
    await visit('/seen')
    await open('Requests')
    await expect(requestsIn(page)).toHaveText([/^200 GET \/seen/])
    await page.keyboard.press('j')
    await expect(headingOf(page, 'GET /seen')).toBeVisible()
    await open('Tunnels')
    await page.getByRole('button', { name: 'Stop recording inspected-agent' }).press('Enter')
    await expect(saying(page, 'are not recorded any more')).toBeVisible()
    await visit('/after')
    await open('Requests')
    await expect(requestsIn(page)).toHaveText([/^200 GET \/seen/])
    // The browser itself logs the answer of an agent that records nothing.
    for (const error of errors) expect(error).toContain('409')
    await agent.stop()
  },
)

wholeOnly(test, 'appearance')(
  'it fits every width in both themes, and axe-core finds nothing',
  async ({ opened: { page, errors }, send }, info) => {
    await send()
    await expect(requestsIn(page)).toHaveCount(2)
    await expectAccessible(page)
    await expectFits({ list: page }, info, WIDTHS_PX)
    await requestsIn(page).last().press('Enter')
    await expect(headingOf(page, 'POST /hook')).toBeVisible()
    await expectAccessible(page)
    await expectFits({ request: page }, info, WIDTHS_PX)
    for (const key of ['?', 'e', 'd']) {
      await page.keyboard.press(key)
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectAccessible(page)
      await expectFits({ [key === '?' ? 'keys' : key]: page }, info, WIDTHS_PX)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
    }
    expect(errors).toEqual([])
  },
)
