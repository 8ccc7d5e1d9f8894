// WebSockets, server-sent events and downloads end with the session: at the sign-out, and when its time is over.

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { endBodyWith, LiveSessions } from '../../../src/handlers/sessions/live-sessions.ts'
import { newAccount, WalletSite } from './wallet-site.ts'

const alice = newAccount()
let site: WalletSite
let cancelled: Promise<string>
let addresses: (string | null)[]
/** Lets the handler answer a request for /late, or upgrade it. */
let goOn: () => void
let asked: Promise<void>
let nowAsked: () => void
const expectAsked = (): void => {
  asked = new Promise((resolve) => {
    nowAsked = resolve
  })
}

beforeAll(async () => {
  site = await WalletSite.start(
    async (request, info) => {
      addresses.push(request.headers.get('x-svc-wallet'))
      if (new URL(request.url).pathname === '/late') await late()
      if (request.headers.has('upgrade')) {
        const { socket, response } = info.upgrade(request)
        socket.onmessage = ({ data }) => socket.send(`echo ${data}`)
        return response
      }
      const { promise, resolve } = Promise.withResolvers<string>()
      cancelled = promise
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: one\n\n')),
        cancel: (reason) => resolve(String(reason)),
      })
      const type = new URL(request.url).pathname === '/events' ? 'text/event-stream' : 'text/plain'
      return new Response(body, { headers: { 'Content-Type': type } })
    },
    { wallets: [alice.address] },
  )
  addresses = []
})
afterAll(() => site.close())

function late(): Promise<void> {
  nowAsked()
  return new Promise((resolve) => {
    goOn = resolve
  })
}

/** Signs out while the handler has a request for /late. */
async function signOutMeanwhile(cookie: string): Promise<void> {
  await asked
  await site.post('sign-out', {}, { Cookie: cookie })
  goOn()
}

function openSocket(headers: Record<string, string>, path = '/'): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${site.port}${path}`, { headers })
}

async function open(path: string, cookie: string): Promise<IncomingMessage> {
  const [response] = await once(
    get({ host: '127.0.0.1', port: site.port, path, headers: { Cookie: cookie }, agent: false }),
    'response',
  )
  await once(response, 'readable')
  return response
}

test('a WebSocket without a session is refused with 401, and with a forged address', async () => {
  for (const headers of [{}, { 'X-Svc-Wallet': alice.address }]) {
    const [, response] = await once(openSocket(headers), 'unexpected-response')
    expect(response.statusCode).toBe(401)
    response.destroy()
  }
  expect(addresses).toEqual([])
})

test('the sign-out closes WebSockets of the session with 1008, and those of another one stay', async () => {
  const cookie = await site.signIn(alice)
  const stays = openSocket({ Cookie: await site.signIn(alice) })
  const forged = { 'X-Svc-Wallet': `0x${'1'.repeat(40)}`, x_svc_wallet: 'me' }
  const socket = openSocket({ Cookie: cookie, Origin: site.origin, ...forged })
  await Promise.all([once(socket, 'open'), once(stays, 'open')])
  expect(addresses).toEqual([alice.address, alice.address])
  const closed = once(socket, 'close')
  await site.post('sign-out', {}, { Cookie: cookie })
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([1008, 'the session has ended'])
  stays.send('hello')
  expect(String((await once(stays, 'message'))[0])).toBe('echo hello')
  stays.terminate()
})

test('the sign-out ends server-sent events, and their handler stops', async () => {
  const cookie = await site.signIn(alice)
  const response = await open('/events', cookie)
  await site.post('sign-out', {}, { Cookie: cookie })
  let text = ''
  for await (const chunk of response) text += chunk
  expect(text).toBe('data: one\n\n')
  expect(await cancelled).toContain('the session has ended')
  expect(site.errors).toEqual([])
})

test('a download breaks off, so that nobody takes a part for the whole', async () => {
  const cookie = await site.signIn(alice)
  const response = await open('/download', cookie)
  await site.post('sign-out', {}, { Cookie: cookie })
  await expect(
    (async () => {
      for await (const _ of response);
    })(),
  ).rejects.toThrow(/aborted/)
  await cancelled
  site.errors.length = 0
})

test('a response or a WebSocket that is made after the sign-out is of no use', async () => {
  const cookie = await site.signIn(alice)
  expectAsked()
  const answer = site.ask('/late', { headers: { Cookie: cookie } })
  await signOutMeanwhile(cookie)
  expect((await answer).status).toBe(401)
  const other = await site.signIn(alice)
  expectAsked()
  const closed = once(openSocket({ Cookie: other }, '/late'), 'close')
  await signOutMeanwhile(other)
  expect((await closed)[0]).toBe(1008)
})

test('a session whose time is over ends what runs of it', async () => {
  const live = new LiveSessions()
  const session = { id: 'a', subject: alice.address, issuedAt: Date.now(), expiresAt: Date.now() + 50 }
  const endless = new Response(new ReadableStream(), { headers: { 'Content-Type': 'text/event-stream' } })
  const bound = endBodyWith(endless, live.use(session))
  expect(await new Response(bound.body).text()).toBe('')
})

test('an exchange that is over leaves nothing behind, and its session goes on', async () => {
  const live = new LiveSessions()
  const session = { id: 'a', subject: alice.address, issuedAt: Date.now(), expiresAt: Date.now() + 60_000 }
  const first = live.use(session)
  const whole = endBodyWith(new Response('whole'), first)
  expect(await new Response(whole.body).text()).toBe('whole')
  const second = live.use(session)
  expect(second.signal).not.toBe(first.signal)
  const cut = endBodyWith(new Response('whole'), second)
  await cut.body!.cancel()
  live.end('a')
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false])
})
