// The facilitator of a relay: whether it fits the site, and what it learns of what is bought.

import { expect, test } from 'vitest'
import type { FetchFunction } from '../../../src/control/relay-client.ts'
import { DIRECT, type DirectlyHandled } from '../../../src/exchange/direct.ts'
import { paid } from '../../../src/handlers/paid/paid.ts'
import { relayFacilitator } from '../../../src/handlers/paid/relay-facilitator.ts'
import { openShop, PAY_TO, SITE } from './shop.ts'

const RELAY = 'https://relay.example'
const X402 = { enabled: true, url: `${RELAY}/api/x402`, network: 'sui:testnet', pay_to: PAY_TO }
const TERMS = { payTo: PAY_TO, network: 'sui:testnet' as const }

/** A relay that answers `/sdk/domain` so, and passes all else on. */
function relayWith(
  x402: object | undefined,
  other: FetchFunction = () => Promise.reject(new Error('down')),
): FetchFunction {
  return async (url, init) =>
    url === `${RELAY}/sdk/domain` ? Response.json({ ok: true, data: { x402 } }) : other(url, init)
}

test.each([
  ['none', undefined, 'runs no facilitator'],
  ['one that is off', { ...X402, enabled: false }, 'runs no facilitator'],
  ['one without an address', { ...X402, url: '' }, 'runs no facilitator'],
  ['one for another network', { ...X402, network: 'sui:mainnet' }, 'is for sui:mainnet'],
  ['one that pays somebody else', { ...X402, pay_to: `0x${'ee'.repeat(32)}` }, 'X402_PAY_TO'],
])('a relay with %s is told, and what to do', async (_, x402, message) => {
  await expect(relayFacilitator(RELAY, { ...TERMS, fetch: relayWith(x402) })).rejects.toMatchObject({
    code: 'payments_unavailable',
    message: expect.stringContaining(message),
  })
})

test('a relay that does not answer is unreachable, and an address in other letters is the same', async () => {
  const down: FetchFunction = () => Promise.reject(new Error('down'))
  await expect(relayFacilitator(RELAY, { ...TERMS, fetch: down })).rejects.toMatchObject({
    code: 'relay_unreachable',
  })
  const upper = { ...X402, pay_to: PAY_TO.toUpperCase().replace('0X', '0x') }
  await relayFacilitator(RELAY, { ...TERMS, fetch: relayWith(upper) })
})

test('it does not learn which page is bought, and tells one page from another', async () => {
  const bodies: string[] = []
  const shop = await openShop(() => new Response('sold'))
  const passOn: FetchFunction = async (url, { body }) => {
    bodies.push(String(body))
    const method = url.endsWith('/verify') ? 'verify' : 'settle'
    return Response.json(await shop.facilitator[method](JSON.parse(String(body))))
  }
  const facilitator = await relayFacilitator(RELAY, { ...TERMS, fetch: relayWith(X402, passOn) })
  const handler = paid(() => new Response('sold'), {
    ...TERMS,
    facilitator,
    routes: [{ path: '/diary', amount: '0.01' }],
  })
  const buy = async (path: string, payment: string): Promise<Response> =>
    handler(new Request(SITE + path, { headers: { 'X-PAYMENT': payment } }), { canonicalUrl: SITE } as never)
  const payment = JSON.parse(atob(await shop.pay('/paid')))
  payment.resource = { url: `${SITE}/diary/page-1` }
  expect((await buy('/diary/page-1?secret=1', btoa(JSON.stringify(payment)))).status).toBe(200)
  expect(bodies).toHaveLength(2)
  for (const body of bodies) expect(body).not.toMatch(/diary|page-1|secret/)
  const named = bodies.map((body) => JSON.parse(body).paymentPayload.resource.url)
  expect(named[0]).toMatch(/^https:\/\/demo\.relay\.example\/x402\/[\da-f]{64}$/)
  expect(named[1]).toBe(named[0])
})

test('what is free takes the direct way of the handler; what has a price never does', async () => {
  const direct: string[] = []
  const handler: DirectlyHandled = () => new Response('by a Request')
  handler[DIRECT] = ({ url, target }) => {
    // The price was looked for under the path of the URL.
    expect(target).toBeUndefined()
    direct.push(url.pathname)
    return undefined
  }
  const priced = paid(handler, {
    ...TERMS,
    facilitator: `${RELAY}/api/x402`,
    routes: [
      { path: '/paid', methods: ['GET'], amount: '0.01' },
      { path: '/paid', methods: ['POST'], amount: 'free' },
    ],
  }) as DirectlyHandled
  const content = { next: async () => undefined }
  const ask = (
    path: string,
    method = 'GET',
    fields: [string, string][] = [],
    body?: typeof content,
  ): void => {
    const exchange = priced[DIRECT]?.({ method, url: new URL(SITE + path), target: path, fields, body })
    expect(exchange).toBeUndefined()
  }
  for (const path of [
    '/paid',
    '//paid',
    '/%70aid',
    '/x402/client.js',
    '/x402/prepare',
    `/%${'25'.repeat(200)}`,
  ])
    ask(path)
  ask('/paid', 'HEAD')
  ask('/paid', 'OPTIONS')
  ask('/paid', 'PUT')
  ask('/paid', 'POST', [['x-http-method-override', 'GET']])
  ask('/paid?_method=GET', 'POST')
  ask('/free', 'GET', [['x-original-url', '/paid']])
  // the content may name another method: it is read before
  ask('/paid', 'POST', [], content)
  expect(direct).toEqual([])
  ask('/free')
  ask('/free', 'POST', [['x-http-method-override', 'GET']], content)
  ask('/paid', 'POST')
  expect(direct).toEqual(['/free', '/free', '/paid'])
})

test.each([
  'relay.example',
  'ftp://relay.example',
  'https://u:p@relay.example',
  'https://relay.example/?a',
  {},
])('facilitator %j is refused at once', (facilitator) => {
  const options = { ...TERMS, facilitator: facilitator as never, routes: [{ path: '/', amount: '1' }] }
  expect(() => paid(() => new Response(), options)).toThrow('facilitator')
})
