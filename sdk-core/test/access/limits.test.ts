// Lists of networks, the end of a site, the one visitor, the most at once, and the rate of each.

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { openGate } from '../../src/access/index.ts'
import { VISITOR_IDLE_MS } from '../../src/access/limits.ts'
import type { AccessOptions } from '../../src/access/options.ts'
import { parseEnd, parseRate } from '../../src/access/times.ts'
import { AccessSite, basic, cookieOf, from, NAVIGATION } from './access-site.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
let site: AccessSite
let asked: number
beforeEach(() => {
  asked = 0
})
afterEach(() => {
  vi.useRealTimers()
  site?.close()
})

async function start(access: AccessOptions): Promise<void> {
  site = await AccessSite.start((request, info) => {
    asked += 1
    if (request.headers.has('upgrade')) return info.upgrade(request).response
    if (!request.url.endsWith('/events')) return new Response('inside')
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }, access)
}

async function statusOf(headers = {}, path = '/'): Promise<number> {
  return (await site.ask(path, { headers })).status
}

test('only listed networks come in, and no unknown address, not even to the sign-in', async () => {
  await start({ allowIp: ['192.0.2.0/24', '2001:db8::/32'], denyIp: ['192.0.2.66'], password: 'x' })
  const headers = basic('', 'x')
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1'])
    expect(await statusOf({ ...headers, ...from(address) })).toBe(200)
  asked = 0
  for (const address of ['192.0.2.66', '::ffff:192.0.2.66', '198.51.100.1', '2001:db9::1', 'unknown'])
    for (const path of ['/', '/.svc/access'])
      expect(await statusOf({ ...headers, ...from(address) }, path)).toBe(403)
  expect(await statusOf(headers)).toBe(403)
  expect(asked).toBe(0)
})

test('a site whose time is over says so, closes, and ends what runs', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  await start({ password: 'x', expires: '2h' })
  const cookie = await site.signIn({ password: 'x' })
  expect((await site.post('sign-in', { password: 'x' })).headers.get('set-cookie')).toContain('Max-Age=7200')
  vi.setSystemTime(NOW + 7_199_999)
  expect(await statusOf({ Cookie: cookie })).toBe(200)
  vi.setSystemTime(NOW + 7_200_000)
  expect(await statusOf({ Cookie: cookie })).toBe(410)
  expect((await site.ask('/', { headers: NAVIGATION })).text).toContain('The time of this site is over.')
})

test('its WebSockets and events end at that time, and the site is closed', async () => {
  vi.useFakeTimers({ now: NOW })
  const gate = await openGate({ expires: '60d' }, undefined)
  // Longer than the longest timer.
  vi.advanceTimersByTime(60 * 86_400_000 - 1)
  expect(gate.closed.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(gate.closed.aborted).toBe(true)
})

test('a WebSocket and events of a program, too', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: NOW })
  await start({ bearer: 'a-token-that-is-long', expires: '2h' })
  const headers = { Authorization: 'Bearer a-token-that-is-long' }
  const socket = new WebSocket(`ws://127.0.0.1:${site.port}/`, { headers })
  const events = get({ host: '127.0.0.1', port: site.port, path: '/events', headers, agent: false })
  const closed = once(socket, 'close')
  const [[response]] = (await Promise.all([once(events, 'response'), once(socket, 'open')])) as [
    [IncomingMessage],
    unknown,
  ]
  vi.advanceTimersByTime(7_200_000)
  let text = ''
  for await (const chunk of response) text += chunk
  expect([text, (await closed)[0]]).toEqual(['data: 1\n\n', 1008])
})

test('a site for one lets in the first session alone, also over a new sign-in', async () => {
  await start({ once: true, password: 'x' })
  const first = await site.signIn({ password: 'x' })
  expect(await statusOf({ Cookie: first })).toBe(200)
  const second = await site.post('sign-in', { password: 'x' })
  expect([second.status, second.headers.get('set-cookie')]).toEqual([403, null])
  expect(second.text).toContain('has come already')
  expect(await statusOf(basic('', 'x'))).toBe(403)
  const again = cookieOf(await site.post('sign-in', { password: 'x' }, { Cookie: first }))
  expect([await statusOf({ Cookie: first }), await statusOf({ Cookie: again })]).toEqual([401, 200])
  await site.post('sign-out', {}, { Cookie: again })
  expect((await site.post('sign-in', { password: 'x' })).status).toBe(403)
})

test('without a password, the one is who presses the button, and no program that looks at links', async () => {
  await start({ once: true })
  expect(await statusOf()).toBe(401)
  const page = await site.ask('/page', { headers: NAVIGATION })
  expect([page.status, asked]).toEqual([401, 0])
  expect(page.text).toContain('Go on to the site')
  const answers = await Promise.all([1, 2, 3].map(() => site.post('sign-in', { next: '/page' })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 403, 403])
  const cookie = cookieOf(answers.find(({ status }) => status === 303)!)
  expect(await statusOf({ Cookie: cookie })).toBe(200)
  const Origin = 'https://evil.example'
  expect((await site.ask('/', { method: 'POST', headers: { Cookie: cookie, Origin } })).status).toBe(403)
})

test('a full site refuses others, until somebody signs out or is idle', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  await start({ maxVisitors: 2, password: 'x' })
  const [one, two, three] = [
    await site.signIn({ password: 'x' }, from('192.0.2.1')),
    await site.signIn({ password: 'x' }, from('192.0.2.2')),
    await site.signIn({ password: 'x' }, from('192.0.2.3')),
  ]
  const ask = (cookie: string, address: string) => statusOf({ Cookie: cookie, ...from(address) })
  expect([await ask(one, '192.0.2.1'), await ask(two, '192.0.2.2'), await ask(one, '192.0.2.1')]).toEqual([
    200, 200, 200,
  ])
  const refused = await site.ask('/', { headers: { Cookie: three, ...from('192.0.2.3') } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  await site.post('sign-out', {}, { Cookie: two })
  expect(await ask(three, '192.0.2.3')).toBe(200)
  vi.setSystemTime(NOW + VISITOR_IDLE_MS)
  const four = await site.signIn({ password: 'x' }, from('192.0.2.4'))
  expect(await ask(four, '192.0.2.4')).toBe(200)
})

test('one network does not keep every place of a site that is open to all', async () => {
  await start({ maxVisitors: 4 })
  const visit = async (address: string): Promise<string> =>
    cookieOf(await site.ask('/', { headers: { ...NAVIGATION, ...from(address) } }))
  for (let at = 0; at < 4; at += 1) await visit('192.0.2.1')
  const other = await visit('192.0.2.2')
  expect(await statusOf({ ...NAVIGATION, ...from('192.0.2.1') })).toBe(503)
  expect(await statusOf({ Cookie: other, ...from('192.0.2.2') })).toBe(200)
})

test('a visitor who asks too often gets 429, and others do not', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  await start({ rate: '2/m' })
  const mine = from('192.0.2.1')
  expect([await statusOf(mine), await statusOf(mine)]).toEqual([200, 200])
  const refused = await site.ask('/', { headers: mine })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  expect(await statusOf(from('192.0.2.2'))).toBe(200)
  vi.advanceTimersByTime(30_000)
  expect([await statusOf(mine), await statusOf(mine)]).toEqual([200, 429])
})

test.each([
  [{ allowIp: [] }, 'access.allowIp must be a list'],
  [{ denyIp: ['192.0.2.0/33'] }, 'access.denyIp: 192.0.2.0/33 is no address and no network'],
  [{ expires: 'soon' }, 'access.expires must be a time such as 2h, or a date'],
  [{ expires: 7200 }, 'access.expires must be'],
  [{ expires: '2020-01-01' }, 'access.expires has passed: 2020-01-01T00:00:00.000Z'],
  [{ expires: '0s' }, 'access.expires has passed'],
  [{ once: 'yes' }, 'access.once must be true or false'],
  [{ once: false }, 'access has to say who may come in'],
  [{ maxVisitors: 0 }, 'access.maxVisitors must be a whole number'],
  [{ rate: '10' }, 'access.rate must be like 10/s'],
  [{ rate: '0/s' }, 'access.rate must be like'],
])('%o is refused', async (access, message) => {
  await expect(openGate(access as AccessOptions, undefined)).rejects.toThrow(message)
})

test('times and rates', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  expect(['90s', '30m', '2h', '7d'].map((text) => parseEnd(text)! - NOW)).toEqual([
    90e3, 1800e3, 7200e3, 604_800e3,
  ])
  expect(parseEnd('2026-01-01T01:00:00Z')).toBe(NOW + 3600e3)
  expect(parseRate('120/m')).toEqual({ burst: 120, perSecond: 2 })
})
