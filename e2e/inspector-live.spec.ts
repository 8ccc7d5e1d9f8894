// What goes on, in the inspector of a real `svc expose --inspect`: the messages of a WebSocket and the events of a stream that Chromium
// opened, and of a gRPC call by the client of @grpc/grpc-js, each as it comes.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { EchoClient, EchoServer } from '../sdk-node/test/support/grpc-echo.ts'
import { LiveTarget } from '../sdk-node/test/support/live-target.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'
import { type InspectedCommand, startInspected } from './support/inspected-command.ts'
import { headingOf, requestsIn } from './support/inspector-page.ts'
import { openWeb } from './support/relay-page.ts'

interface Shown {
  page: Page
  errors: string[]
  /** The public URL, without a slash at the end. */
  url: string
}

const test = base.extend<{ target: LiveTarget; show(target: string): Promise<Shown> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  target: async ({}, use) => {
    const target = new LiveTarget()
    await use(target)
    target.stop()
  },
  show: async ({ relay, browser }, use, info) => {
    const context = await browser.newContext()
    const commands: InspectedCommand[] = []
    await use(async (target) => {
      const command = await startInspected(relay, `live-${info.workerIndex}-${info.line}`, target)
      commands.push(command)
      return { ...(await openWeb(context, command.inspector)), url: command.url }
    })
    await context.close()
    for (const command of commands) await command.stop()
  },
})

const messages = (page: Page) => page.getByRole('list', { name: 'Messages' }).getByRole('listitem')

/** Leads to the one request with this path, by keyboard. */
async function open(page: Page, path: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(path)
  await page.keyboard.press('Enter')
  await expect(requestsIn(page)).toHaveCount(1)
  await page.keyboard.press('j')
  await expect(headingOf(page, path)).toBeVisible()
}

test('a WebSocket: each message of both sides while it is open, and its end', async ({
  target,
  show,
  visitor,
}) => {
  const { page, errors, url } = await show(String(await target.start()))
  await visitor.goto(url)
  const say = (text: string) =>
    visitor.evaluate((data) => (globalThis as unknown as { socket: WebSocket }).socket.send(data), text)
  await visitor.evaluate(async () => {
    const socket = new WebSocket(`${location.origin.replace('https:', 'wss:')}/socket`)
    Object.assign(globalThis, { socket })
    await new Promise((resolve) => {
      socket.onopen = resolve
    })
  })
  await say('one')
  await open(page, 'GET /socket')
  await expect(messages(page)).toHaveText([
    /^→ from the visitor · text .*one$/,
    /^← to the visitor · text .*ONE$/,
  ])
  await say('<img src=x onerror=alert(1)>')
  await expect(messages(page)).toHaveCount(4)
  await expect(messages(page).last()).toContainText('<IMG SRC=X ONERROR=ALERT(1)>')
  await expect(requestsIn(page)).toHaveText(/^101 GET \/socket.* · websocket 4$/)
  await expect(page.getByRole('button', { name: 'Replay', exact: true })).toBeDisabled()
  await expect(page.getByText('a WebSocket cannot be repeated')).toBeVisible()
  await expectAccessible(page)

  await visitor.evaluate(() => (globalThis as unknown as { socket: WebSocket }).socket.close(1000, 'enough'))
  await expect(messages(page).filter({ hasText: '1000 enough' }).first()).toBeVisible()
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'server-sent events: each as it comes, with its type and id, while the answer goes on',
  async ({ target, show, visitor }) => {
    const { page, errors, url } = await show(String(await target.start()))
    await visitor.goto(url)
    await visitor.evaluate(async () => {
      const source = new EventSource('/events')
      await new Promise((resolve) => {
        source.onopen = resolve
      })
    })
    await open(page, 'GET /events')
    await expect(page.getByText('No messages yet.')).toBeVisible()
    target.send('event: tick', 'id: 7', 'data: one')
    await expect(messages(page)).toHaveText([/^← to the visitor · event · tick · id 7 .*one$/])
    target.send('data: two')
    await expect(messages(page)).toHaveCount(2)
    await expect(requestsIn(page)).toHaveText(/^200 GET \/events.* · events 2$/)
    await page.getByRole('tab', { name: 'Messages' }).press('ArrowLeft')
    await expect(page.getByRole('tabpanel')).toContainText('text/event-stream')
    expect(errors).toEqual([])
  },
)

wholeOnly(test, 'variant')(
  'gRPC: the messages of a conversation as they go, and the status at its end; an error with its text',
  async ({ show, relay }) => {
    const server = await new EchoServer().start(false)
    const { page, errors, url } = await show(`grpc://127.0.0.1:${server.port}`)
    const { host, port } = new URL(url)
    const client = new EchoClient(Number(port), readFileSync(relay.caFile), host)
    const call = client.stream()
    call.write(Buffer.from('first'))
    await once(call, 'data')
    await open(page, 'POST /test.Echo/Stream')
    await expect(messages(page)).toHaveText([
      /^→ from the visitor · grpc .*first/s,
      /^← to the visitor · grpc .*first/s,
    ])
    call.write(Buffer.from('second'))
    await expect(messages(page)).toHaveCount(4)
    await expect(page.getByText('gRPC status')).toHaveCount(0)
    call.end()
    await expect(page.getByText('gRPC status 0')).toBeVisible()

    await client.unary(Buffer.alloc(0))
    await page.getByRole('searchbox').fill('')
    await expect(requestsIn(page)).toHaveCount(2)
    await requestsIn(page).first().press('Enter')
    await expect(page.getByText('gRPC status 3 INVALID_ARGUMENT: nothing to echo – „leer“')).toBeVisible()
    expect(errors).toEqual([])
    client.client.close()
    server.server.forceShutdown()
  },
)
