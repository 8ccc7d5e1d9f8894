// A sale: what an unpaid request gets, what a payment buys, and when nobody is charged. The facilitator and the chain are real.

import { describe, expect, test } from 'vitest'
import { PAYMENT_MAX_CHARS } from '../../../src/handlers/paid/limits.ts'
import { decode, encode, openShop, PAY_TO, receipt, required } from './shop.ts'

const CENT = 10_000n

function counting(answer: (request: Request) => Response | Promise<Response> = () => new Response('sold')) {
  const seen: string[] = []
  const handler = (request: Request): Response | Promise<Response> => {
    seen.push(request.method)
    return answer(request)
  }
  return { seen, handler }
}

describe('a request that is not paid', () => {
  test('gets 402 with the requirements in its body and two fields; the handler does not run (protocol §19.2.1)', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler, {
      routes: [{ path: '/paid', amount: '0.01', description: 'a poem' }],
    })
    const response = await shop.ask('/paid/a?secret=1')
    expect(response.status).toBe(402)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('vary')).toMatch(/PAYMENT-SIGNATURE.*X-PAYMENT/)
    expect(response.headers.get('x-payment-required')).toBe(response.headers.get('payment-required'))
    const body = await response.json()
    expect(body).toEqual(required(response))
    expect(body).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource: { url: 'https://demo.relay.example/paid/a', description: 'a poem' },
      accepts: [
        { scheme: 'exact', network: 'sui:testnet', amount: '10000', payTo: PAY_TO, maxTimeoutSeconds: 60 },
      ],
    })
    expect(body.accepts[0].extra.assetTransferMethod).toBe('sui-gasless-stablecoin-address-balance')
    expect(seen).toEqual([])
  })

  test('a browser that navigates gets a page in plain words, which shows no markup of the seller', async () => {
    const routes = [{ path: '/paid', amount: '0.01', description: '<script>alert(1)</script>' }]
    const shop = await openShop(() => new Response('sold'), { routes })
    const response = await shop.ask('/paid', { headers: { Accept: 'text/html,*/*;q=0.8' } })
    expect(response.status).toBe(402)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const page = await response.text()
    expect(page).toContain('This page costs 0.01 USDC of test money')
    expect(page).not.toContain('<script>alert')
    expect(required(response).accepts).toHaveLength(1)
  })

  test('HEAD has a price, too, and no body, and so has POST; other paths are free', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler, { routes: [{ path: '/paid', methods: ['GET'], amount: '0.01' }] })
    const head = await shop.ask('/paid', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([402, ''])
    expect((await shop.ask('/paid', { method: 'POST' })).status).toBe(402)
    expect((await shop.ask('/paids')).status).toBe(200)
    expect(seen).toEqual(['GET'])
  })

  test('an upgrade to a WebSocket has a price like any GET', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const headers = { Upgrade: 'websocket', Connection: 'Upgrade' }
    expect((await shop.ask('/paid', { headers })).status).toBe(402)
    expect(seen).toEqual([])
  })
})

describe('a payment', () => {
  test.each(['PAYMENT-SIGNATURE', 'X-PAYMENT'])(
    'in %s buys one response, and moves the money once',
    async (name) => {
      const { seen, handler } = counting()
      const shop = await openShop(handler)
      const payment = await shop.pay('/paid')
      const response = await shop.ask('/paid', { headers: { [name]: payment } })
      expect([response.status, await response.text()]).toEqual([200, 'sold'])
      expect(receipt(response)).toMatchObject({
        success: true,
        payer: shop.wallet.address,
        network: 'sui:testnet',
      })
      expect(response.headers.get('x-payment-response')).toBe(response.headers.get('payment-response'))
      expect(shop.earned()).toBe(CENT)

      const again = await shop.ask('/paid', { headers: { [name]: payment } })
      expect([again.status, required(again).error]).toEqual([402, 'payment_already_used'])
      // who lost the response learns that it was paid
      expect(receipt(again)).toEqual(receipt(response))
      expect(seen).toEqual(['GET'])
      expect(shop.earned()).toBe(CENT)
      expect(shop.errors).toEqual([])
    },
  )

  test.each([
    ['base64url', (json: string) => Buffer.from(json).toString('base64url')],
    ['JSON as it is', (json: string) => json],
  ])('may be %s, and is no other payment for it', async (_form, write) => {
    const shop = await openShop(() => new Response('sold'))
    const payment = await shop.pay('/paid')
    const { resource, ...rest } = decode<{ resource: object }>(payment)
    // bytes that Base64 writes with "+" and "/"
    const json = JSON.stringify({ ...rest, resource: { ...resource, description: '\u007f??>>~~' } })
    for (const name of ['X-PAYMENT', 'PAYMENT-SIGNATURE']) {
      const response = await shop.ask('/paid', { headers: { [name]: write(json) } })
      expect(response.status).toBe(name === 'X-PAYMENT' ? 200 : 402)
    }
    expect((await shop.buy('/paid', payment)).status).toBe(402)
    expect(shop.earned()).toBe(CENT)
  })

  test('written in another way, it is the same payment', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const payment = await shop.pay('/paid')
    expect((await shop.buy('/paid', payment)).status).toBe(200)
    const { accepted, ...rest } = decode<{ accepted: object }>(payment)
    const rewritten = encode({ extensions: {}, accepted: { ...accepted, extra: {} }, ...rest })
    expect((await shop.buy('/paid', rewritten)).status).toBe(402)
    expect(seen).toHaveLength(1)
  })

  test('of two requests with it at once, one is served', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const payment = await shop.pay('/paid')
    const responses = await Promise.all([1, 2, 3].map(() => shop.buy('/paid', payment)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 402, 402])
    expect(seen).toHaveLength(1)
    expect(shop.earned()).toBe(CENT)
  })

  test('is for the path for which it was asked', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const response = await shop.buy('/paid/b', await shop.pay('/paid/a'))
    expect([response.status, required(response).error]).toEqual([402, 'payment_for_another_resource'])
    expect(seen).toEqual([])
  })

  test.each([
    ['amount', { amount: '1' }],
    ['network', { network: 'sui:mainnet' }],
    ['asset', { asset: '0x2::sui::SUI' }],
    ['payTo', { payTo: `0x${'ee'.repeat(32)}` }],
    ['scheme', { scheme: 'upto' }],
  ])('for another %s is refused before the facilitator is asked', async (name, change) => {
    const { seen, handler } = counting()
    let asked = 0
    const shop = await openShop(handler, {
      wrap: (inner) => ({
        ...bound(inner),
        verify: async (request) => {
          asked += 1
          return inner.verify(request)
        },
      }),
    })
    const payment = decode<{ accepted: object }>(await shop.pay('/paid'))
    const response = await shop.buy(
      '/paid',
      encode({ ...payment, accepted: { ...payment.accepted, ...change } }),
    )
    expect([response.status, required(response).error]).toEqual([402, `requirements_mismatch: ${name}`])
    expect([seen, asked]).toEqual([[], 0])
  })

  test('for a cheap path does not buy a dear one, whatever it claims', async () => {
    const { seen, handler } = counting()
    const routes = [
      { path: '/cheap', amount: '0.01' },
      { path: '/dear', amount: '1' },
    ]
    const shop = await openShop(handler, { routes })
    const { accepts, resource } = required(await shop.ask('/dear'))
    const cheap = decode<object>(await shop.pay('/cheap'))
    const response = await shop.buy('/dear', encode({ ...cheap, accepted: accepts[0], resource }))
    expect(response.status).toBe(402)
    expect(seen).toEqual([])
    expect(shop.earned()).toBe(0n)
  })

  test('with the signature of somebody else is not verified', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const other = await openShop(handler)
    const payment = decode<{ payload: { transaction: string } }>(await shop.pay('/paid'))
    const signature = await other.wallet.signTransaction(payment.payload.transaction)
    const response = await shop.buy(
      '/paid',
      encode({ ...payment, payload: { ...payment.payload, signature } }),
    )
    expect(response.status).toBe(402)
    expect([seen, shop.earned()]).toEqual([[], 0n])
  })

  test.each([
    ['nothing', ''],
    ['not Base64', '***'],
    ['not JSON', Buffer.from('{').toString('base64')],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64')],
    ['a list', encode([])],
    ['another version', encode({ x402Version: 1, accepted: {}, payload: { transaction: 'AA==' } })],
    ['without a transaction', encode({ x402Version: 2, accepted: {}, payload: {} })],
    [
      'an invalid resource',
      encode({ x402Version: 2, accepted: {}, payload: { transaction: 'AA==' }, resource: 1 }),
    ],
    ['too long', 'A'.repeat(PAYMENT_MAX_CHARS + 4)],
  ])('that is malformed is told so: %s (protocol §19.2.2)', async (_, payment) => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const response = await shop.buy('/paid', payment)
    expect([response.status, required(response).error]).toEqual([400, 'invalid_payload'])
    expect(seen).toEqual([])
  })
})

describe('nobody is charged', () => {
  test.each([500, 503, 404, 400])(
    'for a response of %i; the payment buys the next one (protocol §19.2.3)',
    async (status) => {
      let fails = true
      const shop = await openShop(() => (fails ? new Response('sorry', { status }) : new Response('sold')))
      const payment = await shop.pay('/paid')
      const response = await shop.buy('/paid', payment)
      expect([response.status, await response.text(), receipt(response)]).toEqual([
        status,
        'sorry',
        undefined,
      ])
      expect(shop.earned()).toBe(0n)
      fails = false
      expect((await shop.buy('/paid', payment)).status).toBe(200)
      expect(shop.earned()).toBe(CENT)
    },
  )

  test('for a handler that throws, for no Response, and for content that fails at once', async () => {
    const broken = (): Response =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) }))
    const throwing = (): never => {
      throw new Error('thrown')
    }
    for (const fail of [throwing, () => 'text' as never, broken, () => Response.error()]) {
      let answer: () => Response = fail
      const shop = await openShop(() => answer())
      const payment = await shop.pay('/paid')
      await expect(shop.buy('/paid', payment)).rejects.toThrow()
      expect(shop.earned()).toBe(0n)
      answer = () => new Response('sold')
      expect((await shop.buy('/paid', payment)).status).toBe(200)
    }
  })

  test('when the visitor left before the response was there, and nothing is released: it may still read', async () => {
    const leaving = new AbortController()
    const shop = await openShop(() => {
      leaving.abort()
      return new Response('sold')
    })
    const payment = await shop.pay('/paid')
    await expect(shop.buy('/paid', payment, { signal: leaving.signal })).rejects.toThrow('abort')
    expect(shop.earned()).toBe(0n)
    expect((await shop.buy('/paid', payment)).status).toBe(200)
  })
})

describe('the content is held back until it is paid', () => {
  test('a settlement that fails gives 402 and not the content, which is cancelled (protocol §19.2.3)', async () => {
    let cancelled = false
    const content = (): Response =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode('secret')),
          cancel: () => {
            cancelled = true
          },
        }),
      )
    const shop = await openShop(() => {
      // another payment of the same money comes first, after this one was verified
      const moved = shop.node.chain.balance(shop.wallet.address)
      shop.node.chain.fund(shop.wallet.address, -moved)
      return content()
    })
    const response = await shop.buy('/paid', await shop.pay('/paid'))
    expect(response.status).toBe(402)
    expect(await response.text()).not.toContain('secret')
    expect(receipt(response)).toMatchObject({ success: false })
    await expect.poll(() => cancelled).toBe(true)
    expect(shop.earned()).toBe(0n)
  })

  test('content of any length is not read before it is paid, but for its first piece', async () => {
    let pieces = 0
    let piecesBefore = 0
    const endless = (): ReadableStream =>
      new ReadableStream(
        {
          pull: (controller) => {
            pieces += 1
            controller.enqueue(new Uint8Array(64 * 1024))
          },
        },
        { highWaterMark: 0 },
      )
    const shop = await openShop(() => new Response(endless()), {
      wrap: (inner) => ({
        ...bound(inner),
        settle: async (request) => {
          const settled = await inner.settle(request)
          piecesBefore = pieces
          return settled
        },
      }),
    })
    const response = await shop.buy('/paid', await shop.pay('/paid'))
    expect(piecesBefore).toBe(1)
    const reader = response.body!.getReader()
    for (let read = 0; read < 3; read += 1) expect((await reader.read()).value).toHaveLength(64 * 1024)
    expect(pieces).toBe(3)
    await reader.cancel()
  })

  test('an outcome that nobody knows is no new price: the same payment buys the response later, and is charged once (protocol §19.2.4)', async () => {
    const { seen, handler } = counting()
    let lost = 2
    const shop = await openShop(handler, {
      wrap: (inner) => ({
        ...bound(inner),
        // the facilitator carries it out, and its answer is lost
        settle: async (request) => {
          const settled = await inner.settle(request)
          if (lost-- > 0) throw new Error('lost')
          return settled
        },
      }),
    })
    const payment = await shop.pay('/paid/a')
    const first = await shop.buy('/paid/a', payment)
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await first.json()).toMatchObject({ error: 'settlement_unknown' })
    expect(shop.errors).toHaveLength(1)
    expect(shop.earned()).toBe(CENT)
    // not for something else
    const { resource: _, ...nameless } = decode<{ resource: unknown }>(payment)
    const elsewhere = await shop.buy('/paid/b', encode(nameless))
    expect(required(elsewhere).error).toBe('payment_for_another_resource')
    const second = await shop.buy('/paid/a', payment)
    expect([second.status, receipt(second)?.success]).toEqual([200, true])
    expect((await shop.buy('/paid/a', payment)).status).toBe(402)
    expect(shop.earned()).toBe(CENT)
    expect(seen).toHaveLength(2)
  })

  test('a site that owes a response owes it until it is no error', async () => {
    let lost = 2
    let status = 200
    const shop = await openShop(() => new Response('sold', { status }), {
      wrap: (inner) => ({
        ...bound(inner),
        settle: async (request) => {
          const settled = await inner.settle(request)
          if (lost-- > 0) throw new Error('lost')
          return settled
        },
      }),
    })
    const payment = await shop.pay('/paid')
    expect((await shop.buy('/paid', payment)).status).toBe(503)
    status = 500
    expect((await shop.buy('/paid', payment)).status).toBe(500)
    status = 200
    expect((await shop.buy('/paid', payment)).status).toBe(200)
    expect(shop.earned()).toBe(CENT)
  })

  test('a facilitator that cannot be asked charges nothing', async () => {
    const { seen, handler } = counting()
    const shop = await openShop(handler)
    const payment = await shop.pay('/paid')
    shop.node.faults.add({ grpc: 'UNAVAILABLE', times: 100 })
    const response = await shop.buy('/paid', payment)
    expect([response.status, (await response.json()).error]).toEqual([503, 'facilitator_unavailable'])
    expect([seen, shop.errors.length]).toEqual([[], 1])
    shop.node.faults.clear()
  })
})

test('a paid response keeps the fields of its handler, and says what caches and other pages have to know', async () => {
  const headers = { 'Set-Cookie': 'a=b', 'X-Own': '1', 'PAYMENT-RESPONSE': 'forged', Vary: 'Accept' }
  const shop = await openShop(() => new Response('sold', { headers, status: 201, statusText: 'Made' }))
  const response = await shop.buy('/paid', await shop.pay('/paid'))
  expect([response.status, response.statusText]).toEqual([201, 'Made'])
  expect(response.headers.getSetCookie()).toEqual(['a=b'])
  expect(response.headers.get('x-own')).toBe('1')
  expect(receipt(response)?.success).toBe(true)
  expect(response.headers.get('vary')).toBe('Accept, PAYMENT-SIGNATURE, X-PAYMENT')
  expect(response.headers.get('cache-control')).toBe('private')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('access-control-expose-headers')).toContain('PAYMENT-RESPONSE')
})

test('a response that a handler gives to everybody keeps nothing of one payer', async () => {
  const same = new Response(null, { status: 204 })
  const shop = await openShop(() => same)
  const responses = [
    await shop.buy('/paid', await shop.pay('/paid')),
    await shop.buy('/paid', await shop.pay('/paid')),
  ]
  const [first, second] = responses.map((response) => receipt(response)?.transaction)
  expect(first).not.toBe(second)
  expect([...same.headers]).toEqual([])
})

test('a page of another origin may ask for the price and pay; what is free keeps its own rules', async () => {
  const { seen, handler } = counting()
  const shop = await openShop(handler)
  const headers = {
    Origin: 'https://other.example',
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'payment-signature',
  }
  const preflight = await shop.ask('/paid', { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toBe('payment-signature')
  expect((await shop.ask('/paid')).headers.get('access-control-allow-origin')).toBe('*')
  expect(seen).toEqual([])
  await shop.ask('/free', { method: 'OPTIONS', headers })
  expect(seen).toEqual(['OPTIONS'])
  // what is no preflight request has the price of every method
  expect((await shop.ask('/paid', { method: 'OPTIONS' })).status).toBe(402)
})

/** The methods of a facilitator, to replace some. */
function bound<T extends object>(inner: T): T {
  return new Proxy({} as T, {
    get: (_, name) => (inner[name as keyof T] as () => unknown).bind(inner),
    ownKeys: () => ['supported', 'verify', 'settle', 'prepare'],
    getOwnPropertyDescriptor: (_, name) => ({
      enumerable: true,
      configurable: true,
      value: (inner[name as keyof T] as () => unknown).bind(inner),
    }),
  })
}
