// Traffic rules at a real relay, in front of real targets, for visitors of every kind.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import type { Facilitator } from '@svc/payment'
import type { TrafficRules } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { encode, openShop, PAY_TO, required } from '../../../sdk-core/test/handlers/paid/shop.ts'
import { curl } from '../../../tools/programs/curl.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { handlerOf } from '../../src/expose/handler.ts'
import { type ExposeOptions, expose, publish } from '../../src/index.ts'
import { exposeAt, listening } from '../support/exposed.ts'
import { EchoClient, EchoServer, Metadata } from '../support/grpc-echo.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

let target: Server
let port: number
/** The requests of the target, without those that it never answers. */
let seen: IncomingMessage[] = []
let ends: (() => unknown)[] = []

beforeAll(async () => {
  target = createServer(async (asked, response) => {
    if (asked.url === '/silent') return
    seen.push(asked)
    let size = 0
    try {
      for await (const piece of asked) size += piece.length
    } catch {
      return // The site cuts a request whose body is longer than its rules allow.
    }
    response.writeHead(200, { Server: 'target', 'Set-Cookie': ['a=1', 'b=2'] })
    response.end(`${asked.method} ${asked.url} ${size}`)
  })
  target.on('clientError', () => {})
  const sockets = new WebSocketServer({ server: target })
  sockets.on('connection', (socket, asked) => socket.send(`${asked.url} ${asked.headers['x-env']}`))
  port = await listening(target)
})
afterAll(() => {
  target.closeAllConnections()
  target.close()
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
  seen = []
})

async function exposed(rules: TrafficRules, options: Partial<ExposeOptions> = {}): Promise<string> {
  const exposure = await exposeAt(relay, { http: port, rules, ...options })
  ends.push(() => exposure.close())
  return exposure.sites[0]!.url
}

interface Answer {
  status: number
  /** The fields, with their names in lower case. */
  fields: string[]
  text: string
}

/** Asks with curl, which ends with the head of an answer that came before its content was sent. */
async function asked(url: string, path: string, version: string, ...args: string[]): Promise<Answer> {
  const { hostname } = new URL(url)
  const resolve = `${hostname}:${(relay as TestRelay).port}:127.0.0.1`
  const target = url.replace(/\/$/, '') + path
  const given = ['--resolve', resolve, version, '--path-as-is', '--include', ...args, target]
  const lines = String(await curl(relay.caFile, ...given))
  const heads = lines.split('\r\n\r\n')
  const text = heads.pop()!
  const [first = '', ...fields] = heads.pop()!.split('\r\n')
  return {
    status: Number(first.split(' ')[1]),
    fields: fields.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase())),
    text,
  }
}

const RULES: TrafficRules = {
  maintenance: { path: '/closed/*', text: 'Back at noon.', except: ['/closed/health'] },
  redirects: { path: '/old/*', to: '/new/*', status: 308 },
  rewrites: { path: '/api/*', to: '/*' },
  cors: { path: '/api/*', origins: ['https://app.example'], credentials: true },
  requestHeaders: { set: { 'X-Env': 'test' }, remove: ['X-Debug'] },
  requestBody: { maxSize: '1KiB' },
  timeouts: { path: '/silent', response: 0.05 },
  responseHeaders: { set: { 'X-Frame-Options': 'DENY' }, remove: ['Server'] },
}

describe.each(['--http1.1', '--http2'])('a visitor with %s', (version) => {
  it.each([
    ['a server', {}],
    ['a handler', { http: undefined, fetch: answer }],
    ['a route', { http: undefined, routes: { '/': 0 } }],
  ] as [string, Partial<ExposeOptions>][])('gets what the rules say about %s', async (kind, options) => {
    const routed = kind === 'a route' ? { ...options, routes: { '/': port } } : options
    const url = await exposed(RULES, routed)
    const origin = url.replace(/\/$/, '')
    const ask = (path: string, ...args: string[]) => asked(url, path, version, ...args)

    const passed = await ask(
      '/api/v1?a=b',
      '-H',
      'X-Debug: 1',
      '-H',
      'X-Env: forged',
      '-H',
      'Connection: X-Env',
    )
    expect(passed).toMatchObject({ status: 200, text: 'GET /v1?a=b 0' })
    expect(
      passed.fields.filter((line) => /^(?:server|set-cookie|x-frame-options|vary):/.test(line)).toSorted(),
    ).toEqual(['set-cookie: a=1', 'set-cookie: b=2', 'vary: Origin', 'x-frame-options: DENY'])
    expect(seen.at(-1)!.headers).toMatchObject({ 'x-env': 'test' })
    expect(seen.at(-1)!.headers).not.toHaveProperty('x-debug')

    const closed = await ask('/closed/a')
    expect(closed).toMatchObject({ status: 503, text: 'Back at noon.\n' })
    expect(closed.fields).toEqual(expect.arrayContaining(['retry-after: 300', 'x-frame-options: DENY']))
    expect((await ask('/closed/health')).text).toBe('GET /closed/health 0')

    const moved = await ask('/old/a%20b//c?d=e')
    expect([moved.status, moved.fields]).toEqual([
      308,
      expect.arrayContaining([`location: ${origin}/new/a%20b//c?d=e`]),
    ])

    const preflight = ['-X', 'OPTIONS', '-H', 'Access-Control-Request-Method: PUT']
    const allowed = await ask('/api/v1', ...preflight, '-H', 'Origin: https://app.example')
    expect([allowed.status, allowed.fields]).toEqual([
      204,
      expect.arrayContaining([
        'access-control-allow-origin: https://app.example',
        'access-control-allow-credentials: true',
      ]),
    ])
    const refused = await ask('/api/v1', ...preflight, '-H', 'Origin: https://evil.example')
    expect(refused.fields.filter((line) => line.startsWith('access-control-'))).toEqual([])

    expect((await ask('/api/..%2F-secret')).status).toBe(400)
    expect((await ask('/silent')).status).toBe(504)
  })

  it.each([
    ['a server', {}],
    ['a handler', { http: undefined, fetch: answer }],
  ] as [string, Partial<ExposeOptions>][])(
    'gets 413 for too much content, of whatever length, from %s',
    async (_, options) => {
      const url = await exposed(RULES, options)
      const send = (bytes: number, ...args: string[]) =>
        asked(url, '/', version, '--data-binary', 'x'.repeat(bytes), ...args)
      for (const framing of [[], ['-H', 'Transfer-Encoding: chunked']]) {
        expect(await send(1024, ...framing)).toMatchObject({ status: 200, text: 'POST / 1024' })
        const refused = await send(1025, ...framing)
        expect([refused.status, refused.fields]).toEqual([
          413,
          expect.arrayContaining(['x-frame-options: DENY']),
        ])
      }
      expect((await send(100_000, '-H', 'Expect: 100-continue')).status).toBe(413)
      expect((await asked(url, '/', version)).status).toBe(200)
    },
  )
})

function answer(request: Request): Response | Promise<Response> {
  return forward(request)
}

/** Asks the target as a handler that knows nothing of the direct path. */
async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === '/silent') return new Promise(() => {})
  const content = await request.arrayBuffer()
  const fields = Object.fromEntries(request.headers)
  seen.push({ headers: fields, url: pathname + search } as unknown as IncomingMessage)
  const response = new Response(`${request.method} ${pathname}${search} ${content.byteLength}`)
  response.headers.append('Server', 'handler')
  response.headers.append('Set-Cookie', 'a=1')
  response.headers.append('Set-Cookie', 'b=2')
  return response
}

describe('a WebSocket', () => {
  async function opened(
    url: string,
    path: string,
  ): Promise<{ status: number; fields: object; message?: string }> {
    const { host, hostname } = new URL(url)
    const options = { servername: hostname, ca: relay.ca, headers: { Host: host } }
    const socket = new WebSocket(`wss://127.0.0.1:${relay.port}${path}`, [], options)
    ends.push(() => socket.terminate())
    socket.on('error', () => {})
    const refused = once(socket, 'unexpected-response').then(([, response]) => response as IncomingMessage)
    const upgraded = once(socket, 'upgrade').then(([response]) => response as IncomingMessage)
    const message = once(socket, 'message')
    refused.catch(() => {})
    message.catch(() => {})
    const response = await Promise.race([refused, upgraded])
    const { statusCode: status = 0, headers: fields } = response
    return status === 101 ? { status, fields, message: String((await message)[0]) } : { status, fields }
  }

  it('is rewritten, gets the fields, and may be redirected or closed for maintenance', async () => {
    const url = await exposed(RULES)
    const socket = await opened(url, '/api/chat')
    expect(socket).toMatchObject({
      status: 101,
      message: '/chat test',
      fields: { 'x-frame-options': 'DENY' },
    })
    expect(await opened(url, '/old/chat')).toMatchObject({
      status: 308,
      fields: { location: new URL('/new/chat', url).href },
    })
    expect(await opened(url, '/closed/chat')).toMatchObject({ status: 503, fields: { 'retry-after': '300' } })
  })

  it('of HTTP/2 gets the same', async () => {
    const url = await exposed(RULES)
    const session = await http2Session(url)
    const ask = async (path: string): Promise<object> => {
      const stream = session.request({
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'https',
        ':path': path,
        ':authority': new URL(url).host,
        'sec-websocket-version': '13',
      })
      const [fields] = await once(stream, 'response')
      stream.destroy()
      return fields
    }
    expect(await ask('/api/chat')).toMatchObject({ ':status': 200, 'x-frame-options': 'DENY' })
    expect(await ask('/closed/chat')).toMatchObject({ ':status': 503, 'retry-after': '300' })
  })
})

async function http2Session(url: string): Promise<ClientHttp2Session> {
  const { hostname } = new URL(url)
  const session = connectHttp2(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
  session.on('error', () => {})
  ends.push(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

it('gRPC keeps its trailers behind the rules, and content of a stream is bounded', async () => {
  const server = await new EchoServer().start(false)
  ends.push(() => server.server.forceShutdown())
  const rules = { ...RULES, timeouts: { response: 60 }, requestHeaders: { set: { 'X-Said': 'rules' } } }
  const url = await exposed(rules, { http: `grpc://127.0.0.1:${server.port}` })
  const client = new EchoClient(relay.port, relay.ca, new URL(url).host)
  ends.push(() => client.client.close())
  const { head, status } = await client.unary(Buffer.from('one'), new Metadata())
  expect([head.get('x-heard'), head.get('x-frame-options')]).toEqual([['rules'], ['DENY']])
  expect([status.code, status.metadata.get('x-last-bin')]).toEqual([0, [Buffer.from([0, 255])]])
  // 413 is none of gRPC's codes: its clients call it unknown.
  expect((await client.unary(Buffer.alloc(2000))).status.code).toBe(2)
})

it('a site of `publish` has the same rules, behind `access`', async () => {
  const bearer = 'a-token-that-nobody-can-guess'
  const identity = Uint8Array.from(randomBytes(32))
  const given = { relay: relay.origin, ca: relay.ca, identity, fetch: answer }
  const site = await publish({ ...given, rules: RULES, access: { bearer } })
  ends.push(() => site.close())
  expect((await asked(site.url, '/closed/a', '--http1.1')).status).toBe(401)
  const ask = (path: string) => asked(site.url, path, '--http1.1', '-H', `Authorization: Bearer ${bearer}`)
  expect((await ask('/closed/a')).status).toBe(503)
  const { text, fields } = await ask('/api/v1')
  expect([text, fields]).toEqual(['GET /v1 0', expect.arrayContaining(['x-frame-options: DENY'])])
})

it('what the target does with a request reaches the log, and what the rules answer, too', async () => {
  const reports: string[] = []
  const url = await exposed(RULES, { onRequest: ({ path, status }) => reports.push(`${path} ${status}`) })
  await asked(url, '/api/v1', '--http1.1')
  await asked(url, '/closed/a', '--http1.1')
  expect(reports).toEqual(['/api/v1 200', '/closed/a 503'])
})

it('nobody pays for a response that came too late, nor gets none for a payment that took long', async () => {
  const shop = await openShop(() => new Response())
  const { facilitator } = shop
  const slow: Facilitator = {
    verify: (payment) => facilitator.verify(payment),
    prepare: (asked) => facilitator.prepare(asked),
    supported: () => facilitator.supported(),
    settle: async (payment) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return facilitator.settle(payment)
    },
  }
  const options: ExposeOptions = {
    fetch: ({ url }) => (url.endsWith('/silent') ? new Promise(() => {}) : new Response('worth it')),
    paid: {
      payTo: PAY_TO,
      network: 'sui:testnet',
      facilitator: slow,
      routes: ['/paid', '/silent'].map((path) => ({ path, amount: '0.01' })),
    },
    rules: { timeouts: { response: 0.05 } },
  }
  const handler = await handlerOf(options, new URL('https://relay.example'), fetch)
  const info = { canonicalUrl: 'https://demo.relay.example', waitUntil: () => {} } as never
  const buy = async (path: string): Promise<Response> => {
    const url = `https://demo.relay.example${path}`
    const { accepts, resource } = required(await handler(new Request(url), info))
    const asked = { method: 'POST', body: JSON.stringify({ sender: shop.wallet.address, path }) }
    const prepared = await handler(new Request('https://demo.relay.example/x402/prepare', asked), info)
    const { transaction } = (await prepared.json()).paymentTransaction
    const signature = await shop.wallet.signTransaction(transaction)
    const payment = encode({
      x402Version: 2,
      resource,
      accepted: accepts[0],
      payload: { signature, transaction },
    })
    return handler(new Request(url, { headers: { 'PAYMENT-SIGNATURE': payment } }), info)
  }
  const late = await buy('/silent')
  expect([late.status, shop.earned()]).toEqual([504, 0n])
  const bought = await buy('/paid')
  expect([bought.status, await bought.text(), shop.earned()]).toEqual([200, 'worth it', 10_000n])
})

it.each<[Partial<ExposeOptions>, string]>([
  [{ tls: 8443 }, 'rules and tls exclude each other'],
  [{ tcp: 22 }, 'rules need http, fetch or routes'],
  [{ fetch: answer, cache: { files: {} } }, 'rules and cache exclude each other'],
  [{ http: 1, rules: { redirects: { to: 'evil' } } }, 'rules.redirects.to has to be a path'],
])('%j is refused: %s', async (options, message) => {
  const given = { relay: relay.origin, rules: { maintenance: true }, ...options }
  await expect(expose(given)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})
