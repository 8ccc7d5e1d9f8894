// The example's journey: visitors come by WebSocket or by server-sent events, talk, and cannot do more than talk.
import { spawn } from 'node:child_process'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect } from './fixtures.ts'
import { exampleTest, expectAccessible, expectStrictPolicy, testAppearance } from './support/example-page.ts'

const chat = exampleTest('chat')

async function join(page: Page, url: string, name: string): Promise<string | undefined> {
  const answer = await page.goto(url)
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Join' }).click()
  await expect(status(page)).toContainText('Connected by')
  return answer?.headers()['content-security-policy']
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const messages = (page: Page) => page.locator('#messages li p:last-child')
const status = (page: Page) => page.locator('#status')
const people = (page: Page) => page.locator('#people li')

chat(
  'host and visitor talk by WebSocket, and what they write stays text',
  async ({ example: { page, errors, address }, visitor }) => {
    const url = await address()
    await say(page, 'welcome')
    expectStrictPolicy(await join(visitor, url, '<b>Ann</b>'))
    await expect(status(visitor)).toHaveText('Connected by WebSocket.')
    await expect(people(page)).toHaveText(['Host (you)', '<b>Ann</b>'])
    await expect(people(visitor)).toHaveText(['Host', '<b>Ann</b> (you)'])
    await expect(messages(visitor)).toHaveText(['welcome'])
    await say(visitor, '<img src=x onerror=alert(1)>')
    await say(page, 'no markup here')
    const all = ['welcome', '<img src=x onerror=alert(1)>', 'no markup here']
    await expect(messages(page)).toHaveText(all)
    await expect(messages(visitor)).toHaveText(all)
    await expect(visitor.locator('#messages .badge')).toHaveCount(2)

    await visitor.goto('about:blank')
    await expect(people(page)).toHaveText(['Host (you)'])
    expect(errors).toEqual([])
  },
)

wholeOnly(chat, 'variant')(
  'who cannot have a WebSocket gets server-sent events, and everybody comes back by themselves',
  async ({ example: { page, address }, visitor }) => {
    const url = await address()
    await visitor.routeWebSocket(/socket/, (socket) => socket.close())
    await join(visitor, url, 'Bob')
    await expect(status(visitor)).toHaveText('Connected by server-sent events.')
    await say(visitor, 'by POST')
    await expect(messages(page)).toHaveText(['by POST'])
    await expect(messages(visitor)).toHaveText(['by POST'])

    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(people(page)).toHaveText(['Host (you)'])
    await expect(status(visitor)).toContainText('Trying again')
    await say(visitor, 'not lost')
    await expect(visitor.getByLabel('Message', { exact: true })).toHaveValue('not lost')
    await page.getByRole('button', { name: 'Publish' }).click()
    await address()
    await expect(people(page)).toHaveText(['Host (you)', 'Bob'])
    await expect(messages(visitor)).toHaveText(['by POST'])
  },
)

wholeOnly(chat, 'variant')('curl talks, too', async ({ example: { page, address }, relay }) => {
  const url = await address()
  const stream = spawn('curl', ['-sN', '--cacert', relay.caFile, `${url}/events?name=curl`])
  let output = ''
  stream.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  await expect.poll(() => output).toContain('event: key')
  const [, key] = /event: key\ndata: (.*)\n/.exec(output)!
  const post = ['-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', '-d']
  expect(String(await curl(relay.caFile, ...post, 'hello', `${url}/messages?key=${key}`))).toBe('204')
  expect(String(await curl(relay.caFile, ...post, 'hello', `${url}/messages?key=other`))).toBe('403')
  await expect(messages(page)).toHaveText(['hello'])
  await say(page, 'hello curl')
  await expect.poll(() => output).toContain('"text":"hello curl"')
  stream.kill()
  await expect(people(page)).toHaveText(['Host (you)'])
})

wholeOnly(chat, 'variant')(
  'one person writes neither too much nor too often',
  async ({ example: { page, address }, visitor }) => {
    await visitor.goto(await address())
    const { code, events } = await visitor.evaluate(async () => {
      const socket = new WebSocket(`wss://${location.host}/socket?name=${'A'.repeat(1000)}`)
      const events: { type: string; name?: string; text?: string }[] = []
      socket.onmessage = ({ data }) => events.push(JSON.parse(data))
      socket.onopen = () => {
        socket.send('x'.repeat(501))
        for (let i = 0; i < 11; i++) socket.send('x'.repeat(500))
        socket.send('x'.repeat(8 * 1024 + 1))
      }
      const { code } = await new Promise<CloseEvent>((resolve) => {
        socket.onclose = resolve
      })
      return { code, events }
    })
    expect(events[0]).toMatchObject({ type: 'welcome', name: 'A'.repeat(24) })
    expect(events.flatMap(({ text = [] }) => text)).toEqual([
      'A message has at most 500 characters.',
      'That was too much at once: wait a moment.',
    ])
    expect(code).toBe(1009)
    await expect(messages(page)).toHaveCount(10)
    await expect(people(page)).toHaveText(['Host (you)'])
  },
)

wholeOnly(chat, 'variant')(
  'what is posted is not too long, and only by who is here',
  async ({ example: { page, address }, visitor }) => {
    await visitor.goto(await address())
    const statuses = await visitor.evaluate(async () => {
      const key = await new Promise<string>((resolve) => {
        new EventSource('/events?name=Bob').addEventListener('key', ({ data }) => resolve(data))
      })
      const post = async (key: string, body: string) =>
        (await fetch(`/messages?key=${key}`, { method: 'POST', body })).status
      return [await post(key, 'x'.repeat(8 * 1024 + 1)), await post('other', 'x'), await post(key, 'hello')]
    })
    expect(statuses).toEqual([413, 403, 204])
    await expect(messages(page)).toHaveText(['hello'])
  },
)

wholeOnly(chat, 'variant')(
  '50 people are in the room, its host among them',
  async ({ example: { page, address }, visitor }) => {
    await visitor.goto(await address())
    const late = await visitor.evaluate(async () => {
      const open = async (): Promise<string> => {
        const socket = new WebSocket(`wss://${location.host}/socket`)
        return new Promise((resolve) => {
          socket.onmessage = ({ data }) => resolve(JSON.parse(data).name)
          socket.onclose = ({ code, reason }) => resolve(`${code} ${reason}`)
        })
      }
      for (let i = 0; i < 49; i++) await open()
      return [await open(), (await fetch('/events')).status]
    })
    expect(late).toEqual(['1013 The room is full', 503])
    await expect(people(page)).toHaveCount(50)
    await expect(people(page).last()).toHaveText('Somebody 49')
    await visitor.goto('about:blank')
    await expect(people(page)).toHaveText(['Host (you)'])
  },
)

wholeOnly(chat, 'depth')(
  'the last 100 messages are remembered',
  async ({ example: { page, address }, visitor }) => {
    const url = await address()
    await say(page, 'the first')
    await visitor.goto(url)
    for (let i = 0; i < 10; i++) {
      await visitor.evaluate(async (i) => {
        const socket = new WebSocket(`wss://${location.host}/socket`)
        await new Promise((resolve) => {
          socket.onopen = resolve
        })
        for (let j = 0; j < 10; j++) socket.send(`${i}${j}`)
      }, i)
      // Only on one connection a message comes after the one before.
      await expect(messages(page).last()).toHaveText(`${i}9`)
    }
    await join(visitor, url, 'Late')
    for (const one of [page, visitor]) {
      await expect(messages(one).first()).toHaveText('00')
      await expect(messages(one)).toHaveCount(100)
    }
  },
)

wholeOnly(chat, 'variant')(
  'other sites cannot open its WebSocket',
  async ({ example: { address }, tenant }) => {
    const opened = await tenant.evaluate(
      async (url) => {
        const socket = new WebSocket(`${url.replace('https:', 'wss:')}/socket`)
        return new Promise((resolve) => {
          socket.onopen = () => resolve(true)
          socket.onerror = () => resolve(false)
        })
      },
      await address(),
    )
    expect(opened).toBe(false)
  },
)

testAppearance(chat, 'chat', 'Chat', async ({ page, visitor, url }) => {
  await visitor.goto(url)
  await expectAccessible(visitor)
  await join(visitor, url, 'AnUnbreakablyLongNameXY')
  await say(visitor, 'AnUnbreakablyLongWord'.repeat(8))
  for (let i = 0; i < 7; i++) await say(visitor, 'a line '.repeat(60))
  await say(page, 'Now it scrolls.')
  await expect(messages(visitor)).toHaveCount(9)
})
