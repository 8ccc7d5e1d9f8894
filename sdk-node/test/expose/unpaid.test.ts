// A priced GET behind a real server that takes other requests for it, as method-override of Express, Rack, Laravel and PHP do, and that
// reads paths as platforms do: through a real relay, nothing shows what is sold to who does not pay.

import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, it as every, expect } from 'vitest'
import { leadsTo, methodsOf } from '../../../tools/lenient-backend.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { Exposure } from '../../src/index.ts'
import { exposeAt, listening, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'variant')

const SECRET = 'what only payers see'
const paid = {
  payTo: `0x${'5e'.repeat(32)}`,
  network: 'sui:testnet' as const,
  facilitator: 'https://facilitator.invalid',
  routes: [
    { path: '/paid', methods: ['GET'], amount: '0.01' },
    { path: '/paid', methods: ['POST'], amount: 'free' },
  ],
}

let relay: TestRelay
let backend: Server
let exposure: Exposure
let origin: string

beforeAll(async () => {
  relay = await startTestRelay()
  backend = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('latin1')
    const url = new URL(request.url!, 'http://localhost')
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const named = headers.get('x-original-url')
    const methods = methodsOf({ method: request.method!, headers, url, body })
    const isShown = leadsTo(url.pathname, '/paid') || named === '/paid'
    response.end(isShown && methods.has('GET') ? SECRET : `free ${[...methods]}`)
  })
  const port = await listening(backend)
  exposure = await exposeAt(relay, { routes: { '/': port }, paid })
  origin = exposure.sites[0]!.url.replace(/\/$/, '')
})
afterAll(async () => {
  await exposure?.close()
  backend?.close()
  await relay?.close()
})

async function ask(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; text: string }> {
  const body = Buffer.from(options.body ?? '')
  const { method = 'GET', headers = {} } = options
  const length = { 'content-length': String(body.length) }
  const response = await visit(relay, origin, path, {
    method,
    headers: { ...headers, ...(body.length > 0 && length) },
    body,
  })
  return { status: response.statusCode!, text: Buffer.concat(await response.toArray()).toString() }
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const parts = { 'content-type': 'multipart/form-data; boundary=b' }

it.each<[string, Parameters<typeof ask>[1]]>([
  ['/paid', { headers: { 'x-http-method-override': 'GET,x' } }],
  ['/paid', { headers: { 'x-http-method-override': 'get' } }],
  ['/paid', { headers: { x_http_method_override: 'GET' } }],
  ['/paid', { headers: { 'x-http-method': 'GET' } }],
  ['/paid', { headers: { 'x-method-override': 'GET' } }],
  ['/paid?_method=GET', {}],
  ['/paid?%5Fmethod=GET', {}],
  ['/paid?X-HTTP-Method-Override=GET', {}],
  ['/paid', { headers: form, body: 'a=b&_method=GET' }],
  ['/paid', { headers: form, body: '%5fm%65thod=get' }],
  ['/paid', { headers: form, body: '+.method=GET' }],
  ['/paid', { headers: { 'content-type': 'application/json' }, body: '{"\\u005fmethod":"GET"}' }],
  [
    '/paid',
    { headers: parts, body: '--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nGET\r\n--b--\r\n' },
  ],
  ['/%70aid', { headers: { 'x-http-method-override': 'GET' } }],
])('POST %s %o costs what GET costs', async (path, options) => {
  const { status, text } = await ask(path, { method: 'POST', ...options })
  expect([status, text.includes(SECRET)]).toEqual([402, false])
})

it.each([
  '/paid::$DATA',
  '/paid:$i30:$INDEX_ALLOCATION',
  '/%u0070aid',
  '/pa%u0069d/x',
  '/p%E2%80%8Baid',
  '/paid%EF%BB%BF',
  '/pa%C2%ADid',
  '/x/..%c0%af/paid',
  '/%c1%b0aid',
  '/x%c0%af..%c0%afpaid',
  '/paid.',
  '/paid%20.%20/',
  '/paid;a=b',
  '/x%5c..%5cpaid',
  '/p%C3%A0id',
  '/pa%C4%B1d',
  '/%EF%BC%B0AID',
  '/index.php/paid',
])('GET %s costs what /paid costs', async (path) => {
  const { status, text } = await ask(path)
  expect([status, text.includes(SECRET)]).toEqual([402, false])
})

it('a field that names another path does not go around its price', async () => {
  // the SDK removes it on the way in; where the site lets it through, `paid` prices it
  expect((await ask('/free', { headers: { 'x-original-url': '/paid' } })).text).toBe('free GET')
})

it('what is free stays free, and comes as it was sent', async () => {
  const post = await ask('/paid', { method: 'POST', headers: form, body: 'method=GET&a=b' })
  expect([post.status, post.text]).toEqual([200, 'free POST'])
  expect((await ask('/free')).text).toBe('free GET')
  const other = await ask('/free', { method: 'POST', headers: { 'x-http-method-override': 'PUT' } })
  expect([other.status, other.text]).toEqual([200, 'free POST,PUT'])
})

it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'HEAD'])(
  '%s /paid, which no route names, has the price',
  async (method) => {
    expect((await ask('/paid', { method })).status).toBe(402)
  },
)
