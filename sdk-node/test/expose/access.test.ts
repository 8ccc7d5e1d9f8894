// Who may come in is asked in front of every target and handler, at a real relay.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:http2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { useStarted } from '../../../tools/use-started.ts'
import { type ExposeOptions, publish, type Site } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const TOKEN = 'a-token-that-is-long'
const ACCESS = { bearer: TOKEN, users: { alice: 'her own' } }

const relay = useStarted(startTestRelay)
let seen: IncomingMessage['headers'][]
let target: Server
/** The URLs of a target, of a route and of a handler. */
const urls: Record<string, string> = {}
const ends: (() => unknown)[] = []

beforeAll(async () => {
  target = createServer(({ url, headers }, response) => {
    seen.push(headers)
    if (url !== '/events') return response.end('hello')
    response.setHeader('Content-Type', 'text/event-stream')
    return response.write('data: hello\n\n')
  })
  new WebSocketServer({ server: target }).on('connection', (socket, { headers }) => {
    seen.push(headers)
    socket.send('hello')
  })
  const http = await listening(target)
  const answer = (request: Request): Response => {
    seen.push(Object.fromEntries(request.headers))
    return new Response('hello')
  }
  const ways: Record<string, Partial<ExposeOptions>> = {
    'a target': { http },
    'a route': { routes: { '/': http } },
    'a handler': { fetch: answer },
  }
  for (const [name, options] of Object.entries(ways)) {
    const exposure = await exposeAt(relay, { ...options, access: ACCESS })
    urls[name] = exposure.sites[0]!.url
    ends.push(() => exposure.close())
  }
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identity: new Uint8Array(32).fill(7),
    fetch: answer,
    access: ACCESS,
  })
  urls.publish = site.url
  ends.push(() => site.close())
})
afterAll(async () => {
  for (const end of ends) await end()
  target.close()
  target.closeAllConnections()
})

type Visit = (url: string, headers: Record<string, string>) => Promise<string>

const overHttp1: Visit = async (url, headers) => {
  const response = await visit(relay, url, '/', { headers })
  return `${response.statusCode} ${await text(response)}`
}

const overHttp2: Visit = async (url, headers) => {
  const { host, hostname } = new URL(url)
  const session = connect(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
  const request = session.request({ ':authority': host, ...headers }).setEncoding('utf8')
  const [fields] = await once(request, 'response')
  const parts = await request.toArray()
  session.close()
  return `${fields[':status']} ${parts.join('')}`
}

it.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
])('visitors over %s reach no handler without the token, and no handler gets the token', async (_, ask) => {
  for (const url of Object.values(urls)) {
    seen = []
    for (const headers of [{}, { authorization: 'Bearer a-token-that-is-wrong' }])
      expect(await ask(url, headers as Record<string, string>)).toMatch(/^401 /)
    expect(seen).toEqual([])
    expect(await ask(url, { authorization: `Bearer ${TOKEN}`, 'x-other': 'stays' })).toBe('200 hello')
    expect(seen).toMatchObject([{ 'x-other': 'stays' }])
    expect(seen[0]).not.toHaveProperty('authorization')
  }
})

function openSocket(url: string, headers: Record<string, string>): WebSocket {
  const { host, hostname } = new URL(url)
  const options = { servername: hostname, ca: relay.ca, headers: { host, ...headers } }
  return new WebSocket(`wss://127.0.0.1:${relay.port}/`, [], options)
}

it('a WebSocket is opened with the token, and not without it', async () => {
  const url = urls['a target']!
  seen = []
  const [, refused] = await once(openSocket(url, {}), 'unexpected-response')
  expect([refused.statusCode, seen]).toEqual([401, []])
  refused.destroy()
  const socket = openSocket(url, { authorization: `Bearer ${TOKEN}` })
  expect(String((await once(socket, 'message'))[0])).toBe('hello')
  socket.terminate()
  expect(seen[0]).not.toHaveProperty('authorization')
})

it.each(['a target', 'a route'])('the sign-out ends the WebSocket and the events of %s', async (name) => {
  const url = urls[name]!
  const post = (action: string, body: string, headers = {}) =>
    visit(relay, url, `/.svc/access/${action}`, {
      method: 'POST',
      headers: { Origin: new URL(url).origin, ...headers },
      body,
    })
  const signedIn = await post('sign-in', 'user=alice&password=her+own')
  expect(signedIn.statusCode).toBe(303)
  const cookie = signedIn.headers['set-cookie']![0]!.split(';')[0]!
  seen = []
  const socket = openSocket(url, { cookie, origin: new URL(url).origin })
  await once(socket, 'message')
  const events = await visit(relay, url, '/events', { headers: { cookie } })
  const read = text(events)
  const closed = once(socket, 'close')
  await post('sign-out', '', { cookie })
  expect((await closed)[0]).toBe(1008)
  expect(await read).toBe('data: hello\n\n')
  expect(seen.map((headers) => headers.cookie)).toEqual([undefined, undefined])
})

it('visitors come from listed networks alone, by what the relay says and not what they claim', async () => {
  const exposure = await exposeAt(relay, {
    fetch: () => new Response('hello'),
    access: { allowIp: ['127.0.0.2'], rate: '2/h' },
  })
  ends.push(() => exposure.close())
  const { url } = exposure.sites[0]!
  const statusFrom = async (localAddress: string, headers = {}): Promise<number | undefined> =>
    (await visit(relay, url, '/', { localAddress, headers })).statusCode
  const claims = { 'X-Forwarded-For': '127.0.0.2', Forwarded: 'for=127.0.0.2', 'X-Real-IP': '127.0.0.2' }
  expect([await statusFrom('127.0.0.3', claims), await statusFrom('127.0.0.2')]).toEqual([403, 200])
  expect([await statusFrom('127.0.0.2'), await statusFrom('127.0.0.2')]).toEqual([200, 429])
  await expect(
    exposeAt(relay, {
      fetch: () => new Response(),
      visitorAddress: false,
      access: { allowIp: ['127.0.0.2'] },
    }),
  ).rejects.toMatchObject({ message: 'access.allowIp and access.denyIp need visitorAddress' })
})

it('a site is closed when its time is over, also when that is before it is online', async () => {
  const soon = () => ({
    fetch: () => new Response('hello'),
    access: { expires: new Date(Date.now() + 3_000) },
  })
  const at = { relay: relay.origin, ca: relay.ca, identity: new Uint8Array(32).fill(8) }
  const aborted = (error: unknown) => expect(error).toMatchObject({ code: 'aborted' })
  const closed = async (site: Site): Promise<void> => {
    while (site.state !== 'closed') await once(site, 'statechange')
  }
  await Promise.all([
    exposeAt(relay, soon()).then(({ ended }) => ended, aborted),
    publish({ ...at, ...soon() }).then(closed, aborted),
  ])
})

it('a site is shared by links, and what came by one ends with it', async () => {
  const exposure = await exposeAt(relay, { fetch: () => new Response('hello'), access: ACCESS })
  ends.push(() => exposure.close())
  const site = exposure.sites[0]!
  const link = await site.share!({ once: true, note: 'for Bob' })
  const { origin, hash } = new URL(link.url)
  expect(origin).toBe(new URL(site.url).origin)
  const answer = await visit(relay, site.url, '/.svc/access/share', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: origin },
    body: JSON.stringify({ secret: hash.slice('#svc-share='.length) }),
  })
  const cookie = answer.headers['set-cookie']![0]!.split(';')[0]!
  const socket = openSocket(site.url, { cookie, origin })
  // The handler answers every request with a page.
  const [, answered] = await once(socket, 'unexpected-response')
  expect(answered.statusCode).toBe(200)
  answered.destroy()
  expect(site.shares).toMatchObject([{ id: link.id, note: 'for Bob', uses: 1 }])
  expect(await site.unshare!(link.id)).toBe(true)
  expect((await visit(relay, site.url, '/', { headers: { cookie } })).statusCode).toBe(401)
})

it.each([
  ['tls', { tls: 1 }],
  ['tcp', { tcp: 1, http: 2 }],
  ['udp', { udp: 1, http: 2 }],
  ['cache', { fetch: () => new Response(), cache: { files: [] } }],
] as [string, Partial<ExposeOptions>][])('%s would lead around it, and is refused', async (_, options) => {
  await expect(exposeAt(relay, { ...options, access: ACCESS })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('access excludes tls, tcp, udp and cache'),
  })
})
