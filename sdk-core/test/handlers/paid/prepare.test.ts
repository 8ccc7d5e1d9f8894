// `/x402/prepare` and `/x402/client.js`, which the site answers itself, and the bounds on what is remembered of payments.

import { describe, expect, test } from 'vitest'
import { PREPARE_MAX_BYTES } from '../../../src/handlers/paid/limits.ts'
import { Claim, UsedPayments } from '../../../src/handlers/paid/used-payments.ts'
import { openShop, PAY_TO, type Shop, SITE } from './shop.ts'

const routes = [
  { path: '/paid', methods: ['GET'], amount: '0.01', description: 'a poem' },
  { path: '/paid', methods: ['POST'], amount: '0.05' },
  { path: '/paid', methods: ['DELETE'], amount: 'free' },
]

function prepare(shop: Shop, body: unknown): Promise<Response> {
  return shop.ask('/x402/prepare', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

describe('POST /x402/prepare', () => {
  test('the transaction for a path and a method, which the wallet signs (protocol §19.2.5)', async () => {
    const shop = await openShop(() => new Response('sold'), { routes })
    const sender = shop.wallet.address
    const response = await prepare(shop, { sender, path: '/paid/x?q' })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(await response.json()).toEqual({
      x402Version: 2,
      paymentRequirements: expect.objectContaining({ amount: '10000', payTo: PAY_TO }),
      resource: { url: `${SITE}/paid/x`, description: 'a poem' },
      paymentTransaction: { transaction: expect.any(String) },
    })
    const post = await (await prepare(shop, { sender, path: '/paid', method: 'post' })).json()
    expect(post.paymentRequirements.amount).toBe('50000')
    expect(shop.errors).toEqual([])
  })

  test('coins that are not in the address balance are moved there first', async () => {
    const shop = await openShop(() => new Response('sold'))
    shop.node.chain.fund(shop.wallet.address, -1_000_000n)
    shop.node.chain.fundCoin(shop.wallet.address, 10_000n)
    const answer = await (await prepare(shop, { sender: shop.wallet.address, path: '/paid' })).json()
    expect(answer.prepareTransaction).toEqual({ transaction: expect.any(String) })
  })

  test.each([
    ['', 400, 'invalid_request'],
    ['{', 400, 'invalid_request'],
    ['null', 400, 'invalid_request'],
    [{ path: '/paid' }, 400, 'invalid_request'],
    [{ sender: 1, path: '/paid' }, 400, 'invalid_request'],
    [{ sender: '0x12', path: '/paid' }, 400, 'invalid_payload'],
    [{ sender: `0x${'ab'.repeat(32)}`, path: '/paid' }, 400, 'insufficient_funds'],
    [{ sender: PAY_TO, path: 'paid' }, 400, 'invalid_request'],
    [{ sender: PAY_TO, path: '/paid', method: 'GET /' }, 400, 'invalid_request'],
    [{ sender: PAY_TO, path: '/free' }, 404, 'not_paid'],
    [{ sender: PAY_TO, path: '/paid', method: 'DELETE' }, 404, 'not_paid'],
  ])('%j is answered with %i %s', async (body, status, error) => {
    const shop = await openShop(() => new Response('sold'), { routes })
    const response = await prepare(shop, body)
    expect([response.status, (await response.json()).error]).toEqual([status, error])
    expect(shop.errors).toEqual([])
  })

  test('a body of more than 64 KiB is refused, and read no further (protocol §19.2.5)', async () => {
    const shop = await openShop(() => new Response('sold'), { routes })
    const allowed = JSON.stringify({ sender: shop.wallet.address, path: '/paid' }).padEnd(PREPARE_MAX_BYTES)
    expect((await prepare(shop, allowed)).status).toBe(200)
    let pulled = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled += 1
        controller.enqueue(new Uint8Array(16 * 1024).fill(0x20))
      },
    })
    const init = { method: 'POST', body: endless, duplex: 'half' }
    expect((await shop.ask('/x402/prepare', init as RequestInit)).status).toBe(413)
    expect(pulled).toBeLessThan(10)
  })

  test('only with POST; a page of another origin may', async () => {
    const shop = await openShop(() => new Response('sold'))
    const get = await shop.ask('/x402/prepare')
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' }
    expect((await shop.ask('/x402/prepare', { method: 'OPTIONS', headers })).status).toBe(204)
  })

  test('a chain that does not answer is not the visitor’s fault', async () => {
    const shop = await openShop(() => new Response('sold'))
    shop.node.faults.add({ grpc: 'UNAVAILABLE', times: 100 })
    const response = await prepare(shop, { sender: shop.wallet.address, path: '/paid' })
    expect([response.status, (await response.json()).error]).toEqual([503, 'facilitator_unavailable'])
    expect(shop.errors).toHaveLength(1)
  })
})

test('GET /x402/client.js is a module that pages of every origin may import, and that needs no other', async () => {
  const shop = await openShop(() => new Response('the handler'), { routes: [{ path: '/', amount: '1' }] })
  const response = await shop.ask('/x402/client.js')
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  const text = await response.text()
  expect(text).not.toMatch(/^\s*import\s/m)
  const module = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  expect(Object.keys(module).sort()).toEqual([
    'connect',
    'payAndShow',
    'settlementOf',
    'wallets',
    'x402Fetch',
  ])
  expect(await (await shop.ask('/x402/client.js', { method: 'HEAD' })).text()).toBe('')
  expect((await shop.ask('/x402/client.js', { method: 'POST' })).status).toBe(405)
})

describe('what is remembered of payments is bounded', () => {
  const settlement = (transaction: string) => ({ success: true, transaction, network: 'sui:testnet' })
  const take = (used: UsedPayments, key: string): Claim => {
    const claim = used.claim(key, '/')
    if (!(claim instanceof Claim)) throw new Error(claim.reason)
    return claim
  }

  test('while it is full, no further payment is taken; what costs its payer nothing does not fill it', () => {
    const used = new UsedPayments(4, 10)
    for (let attempt = 0; attempt < 100; attempt += 1) take(used, `free${attempt}`).end()
    for (const key of ['a', 'b']) {
      const claim = take(used, key)
      claim.owe(settlement(key))
      expect(claim.serve()).toBe(true)
      claim.end()
    }
    // each has two names
    expect(used.claim('c', '/')).toEqual({ reason: 'full' })
    expect(used.claim('a', '/')).toEqual({ reason: 'used', settlement: settlement('a') })
  })

  test('so many are on their way at once', () => {
    const used = new UsedPayments(100, 2)
    const first = take(used, 'a')
    take(used, 'b')
    expect(used.claim('c', '/')).toEqual({ reason: 'full' })
    expect(used.claim('a', '/')).toEqual({ reason: 'busy' })
    first.end()
    take(used, 'c')
  })

  test('one transaction under two hashes is sold once', () => {
    const used = new UsedPayments()
    const [one, other] = [take(used, 'one'), take(used, 'other')]
    for (const claim of [one, other]) claim.owe(settlement('same'))
    expect([one.serve(), other.serve()]).toEqual([true, false])
    one.end()
    other.end()
    expect(used.claim('other', '/')).toMatchObject({ reason: 'used' })
  })

  test('what is owed is owed for its own resource', () => {
    const used = new UsedPayments()
    const claim = take(used, 'a')
    claim.owe(undefined)
    claim.end()
    expect(used.claim('a', '/other')).toEqual({ reason: 'other_resource' })
    expect(take(used, 'a').isOwed).toBe(true)
  })
})
