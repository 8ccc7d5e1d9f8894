// A priced path has a price for every method: no method, and nothing that a framework takes for one, goes around it.

import { describe, expect, test } from 'vitest'
import { JUDGED_CONTENT_MAX_BYTES } from '../../../src/handlers/paid/limits.ts'
import { parsePrices } from '../../../src/handlers/paid/options.ts'
import { openShop, PAY_TO, required } from './shop.ts'

type Route = { path: string; methods?: string[]; amount: string }

function priceOf(routes: Route[], method: string, path = '/paid'): string {
  const list = parsePrices({ payTo: PAY_TO, network: 'sui:testnet', routes })
  const found = list.find({ method, url: new URL(path, 'https://a.example'), fields: [] })
  return typeof found === 'string' ? found : found.amount
}

describe('the price of a method', () => {
  const get = { path: '/paid', methods: ['GET'], amount: '0.01' }
  const post = { path: '/paid', methods: ['POST'], amount: '0.05' }
  const freePost = { path: '/paid', methods: ['POST'], amount: 'free' }

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'PROPFIND', 'get', 'TRACE'])(
    'that no route names, such as %s, is that of the path',
    (method) => expect(priceOf([get], method)).toBe('0.01'),
  )

  test('is the dearest of the path where there are several', () => {
    const prices = ['GET', 'HEAD', 'POST', 'PUT', 'post'].map((method) => priceOf([get, post], method))
    expect(prices).toEqual(['0.01', '0.01', '0.05', '0.05', '0.05'])
  })

  test('is nothing where it is named as free, in that very spelling', () => {
    const prices = ['GET', 'POST', 'PUT', 'post', 'OPTIONS'].map((method) => priceOf([get, freePost], method))
    expect(prices).toEqual(['0.01', 'free', '0.01', '0.01', '0.01'])
  })

  test('is not what a shorter path gives away, where the longer one has a price', () => {
    const below = { path: '/paid/x', methods: ['GET'], amount: '0.02' }
    expect(priceOf([get, freePost, below], 'POST', '/paid/x')).toBe('0.02')
    expect(priceOf([get, post, below], 'POST', '/paid/x')).toBe('0.05')
  })

  test('is nothing below a path that is given away, for the methods that are', () => {
    const preview = { path: '/paid/preview', methods: ['GET'], amount: 'free' }
    const at = (method: string) => priceOf([get, preview], method, '/paid/preview/1')
    expect([at('GET'), at('HEAD'), at('POST')]).toEqual(['free', 'free', '0.01'])
    expect(priceOf([get, preview], 'GET', '/paid/preview/%2e%2e/x')).toBe('0.01')
  })

  test('is needed: a list that gives everything away is a mistake', () => {
    expect(() => priceOf([freePost], 'GET')).toThrow('nothing of routes has a price')
  })
})

describe('a POST that is free where GET has a price', () => {
  const routes = [
    { path: '/paid', methods: ['GET'], amount: '0.01' },
    { path: '/paid', methods: ['POST'], amount: 'free' },
  ]

  async function post(init: RequestInit & { path?: string }): Promise<[status: number, seen: string[]]> {
    const seen: string[] = []
    const handler = async (request: Request): Promise<Response> => {
      seen.push(`${request.method} ${await request.text()}`)
      return new Response('done')
    }
    const shop = await openShop(handler, { routes })
    const response = await shop.ask(init.path ?? '/paid', { method: 'POST', ...init })
    if (response.status === 402) expect(required(response).accepts[0]!.amount).toBe('10000')
    return [response.status, seen]
  }

  test.each<[string, RequestInit & { path?: string }, string]>([
    ['without content', {}, ''],
    ['with a form', { body: 'name=_me&method=GET&a=%5F' }, 'name=_me&method=GET&a=%5F'],
    ['with JSON', { body: '{"method":"GET"}' }, '{"method":"GET"}'],
    ['with a query', { path: '/paid?method=GET', body: 'x' }, 'x'],
    [
      'with all the content that there may be',
      { body: 'x'.repeat(JUDGED_CONTENT_MAX_BYTES) },
      'x'.repeat(JUDGED_CONTENT_MAX_BYTES),
    ],
  ])('%s reaches the handler as it came', async (_what, init, content) => {
    expect(await post(init)).toEqual([200, [`POST ${content}`]])
  })

  const form = 'application/x-www-form-urlencoded'
  test.each<[string, RequestInit & { path?: string }]>([
    ['a field', { headers: { 'X-HTTP-Method-Override': 'GET' } }],
    ['a field with a list', { headers: { 'X-HTTP-Method-Override': 'GET,x' } }],
    ['a field with nothing', { headers: { 'X-HTTP-Method-Override': '' } }],
    ['a field of another name', { headers: { 'X-HTTP-Method': 'GET' } }],
    ['a field of a third name', { headers: { 'X-Method-Override': 'GET' } }],
    ['a field with underscores', { headers: { x_http_method_override: 'GET' } }],
    ['a query', { path: '/paid?_method=GET' }],
    ['an encoded query', { path: '/paid?a=1&%5fm%65thod=GET' }],
    ['a query of PHP', { path: '/paid?.method=GET' }],
    ['a query of the name of a field', { path: '/paid?X-HTTP-Method-Override=GET' }],
    ['a form', { body: 'a=1&_method=GET', headers: { 'Content-Type': form } }],
    ['an encoded form', { body: '%5F%6dethod=GET', headers: { 'Content-Type': form } }],
    ['a form that claims to be text', { body: '_method=GET', headers: { 'Content-Type': 'text/plain' } }],
    ['parts', { body: partsOf('_method', 'GET') }],
    ['parts of PHP', { body: partsOf('[method', 'GET') }],
    ['JSON', { body: '{"_method":"GET"}' }],
    ['JSON in other words', { body: '{"\\u005f\\u006dethod":"GET"}' }],
    ['UTF-16', { body: Buffer.from('_method=GET', 'utf16le') }],
    ['content in a coding', { body: 'anything', headers: { 'Content-Encoding': 'gzip' } }],
    ['content that is too long', { body: 'x'.repeat(JUDGED_CONTENT_MAX_BYTES + 1) }],
  ])('has the price of GET when %s may make one of it', async (_what, init) => {
    expect(await post(init)).toEqual([402, []])
  })

  test('a payment buys it then', async () => {
    const shop = await openShop(async (request) => new Response(await request.text()), { routes })
    const body = '_method=GET'
    const payment = await shop.pay('/paid')
    const response = await shop.buy('/paid', payment, { method: 'POST', body })
    expect([response.status, await response.text(), shop.earned()]).toEqual([200, body, 10_000n])
  })
})

test('a cheaper method whose content may name a dearer one has the price of that one', async () => {
  const routes = [
    { path: '/paid', methods: ['GET'], amount: '0.05' },
    { path: '/paid', methods: ['POST'], amount: '0.01' },
  ]
  const seen: string[] = []
  const handler = async (request: Request): Promise<Response> => {
    seen.push(await request.text())
    return new Response('sold')
  }
  const shop = await openShop(handler, { routes })
  const [cheap, dear] = [await shop.pay('/paid', { method: 'POST' }), await shop.pay('/paid')]
  const buy = async (payment: string, body: string) =>
    (await shop.buy('/paid', payment, { method: 'POST', body })).status
  expect(await buy(cheap, '_method=GET')).toBe(402)
  expect([shop.earned(), seen]).toEqual([0n, []])
  expect(await buy(cheap, 'a=b')).toBe(200)
  expect(await buy(dear, '_method=GET')).toBe(200)
  expect([shop.earned(), seen]).toEqual([60_000n, ['a=b', '_method=GET']])
})

test('a preflight of a priced path is answered without the handler, whatever it asks for', async () => {
  const routes = [
    { path: '/paid', methods: ['GET'], amount: '0.01' },
    { path: '/paid', methods: ['POST'], amount: 'free' },
  ]
  const seen: string[] = []
  const shop = await openShop(
    ({ url }) => {
      seen.push(new URL(url).pathname)
      return new Response('sold')
    },
    { routes },
  )
  for (const method of ['GET', 'POST', 'PUT', '']) {
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': method }
    for (const path of ['/paid', '/free']) await shop.ask(path, { method: 'OPTIONS', headers })
  }
  expect((await shop.ask('/paid', { method: 'OPTIONS' })).status).toBe(402)
  expect(seen).toEqual(['/free', '/free', '/free', '/free'])
})

test.each(['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Uri', 'x_original_url'])(
  '%s has the price of the path that it names',
  async (name) => {
    const shop = await openShop(() => new Response('sold'))
    const status = async (value: string) => (await shop.ask('/free', { headers: { [name]: value } })).status
    const values = ['/paid', '/x, /paid', 'https://demo.relay.example/paid?x', '/%70aid', '/free']
    expect(await Promise.all(values.map(status))).toEqual([402, 402, 402, 402, 200])
  },
)

function partsOf(name: string, value: string): FormData {
  const form = new FormData()
  form.set(name, value)
  return form
}
