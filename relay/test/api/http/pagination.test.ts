// Long lists in pages: every item once, each page made once for all who ask, compressed for who takes it, and bounded.

import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { gunzipSync } from 'node:zlib'
import type { Lease, PolicyDecisionsResponse, PublicStateResponse } from '@svc/protocol'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { pageOfDecisions } from '../../../src/core/api/handlers/policy-decisions.ts'
import {
  FIRST_LIST_PAGE_RATE,
  ListCache,
  OTHER_LIST_PAGE_RATE,
} from '../../../src/core/api/http/list-cache.ts'
import { fillPage, LIST_PAGE_BYTES } from '../../../src/core/api/http/pagination.ts'
import { LeaseRegistry } from '../../../src/core/lease/lease-registry.ts'
import { Reservations } from '../../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../../src/core/lease/route.ts'
import { RoutingTable } from '../../../src/core/routing/routing-table.ts'
import { newAccount, ROOT_HOST, startTestRelay } from '../../support/relay.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const ADMIN = { Authorization: `Bearer ${ADMIN_TOKEN}` }
/** Two pages of them, and a little. */
const LEASES = 70
const METADATA = { description: 'd'.repeat(1_000), thumbnail: `data:image/png;base64,${'x'.repeat(7_000)}` }

const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN }))
beforeAll(async () => {
  for (let index = 0; index < LEASES; index++)
    await relay.register(`page${index}`, { metadata: METADATA, ttl: 600 })
})

async function walk(path: string, headers = {}): Promise<Lease[][]> {
  const pages: Lease[][] = []
  let next: string | undefined = ''
  while (next !== undefined) {
    const answer = await relay.call('GET', next === '' ? path : `${path}?after=${next}`, undefined, headers)
    expect(answer.status).toBe(200)
    expect(Buffer.byteLength(answer.text)).toBeLessThan(LIST_PAGE_BYTES + 1_000)
    const page = answer.json.data as unknown as PublicStateResponse
    pages.push(page.leases)
    next = page.next
  }
  return pages
}

describe.each([
  ['/api/state', {}],
  ['/api/policy/state', ADMIN],
])('%s', (path, headers) => {
  test('has every lease on one page, in the order of registration', async () => {
    const pages = await walk(path, headers)
    expect(pages.length).toBe(3)
    expect(pages.flat().map(({ name }) => name)).toEqual(Array.from({ length: LEASES }, (_, i) => `page${i}`))
  })

  test.each(['-1', '1.5', 'x', '9'.repeat(16), '%00', '9'.repeat(300)])(
    'has no page behind %s',
    async (after) => {
      const answer = await relay.call('GET', `${path}?after=${after}`, undefined, headers)
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
    },
  )

  test('ends with an empty page behind the last lease', async () => {
    const answer = await relay.call('GET', `${path}?after=999999`, undefined, headers)
    expect(answer.json.data).toMatchObject({ leases: [] })
    expect(answer.json.data).not.toHaveProperty('next')
  })
})

test('leases that come and go during a walk leave the others each on one page (protocol §20.1.2)', async () => {
  const account = newAccount()
  const register = () => relay.register('moving', { account, metadata: METADATA, ttl: 600 })
  await register()
  const first = (await relay.call('GET', '/api/state')).json.data as unknown as PublicStateResponse
  const renewed = await register()
  const rest: string[] = first.leases.map(({ name }) => name)
  for (let next = first.next; next !== undefined; ) {
    const page = (await relay.call('GET', `/api/state?after=${next}`)).json
      .data as unknown as PublicStateResponse
    rest.push(...page.leases.map(({ name }) => name))
    next = page.next
  }
  expect(rest.toSorted()).toEqual(
    [...Array.from({ length: LEASES }, (_, i) => `page${i}`), 'moving'].toSorted(),
  )
  await relay.call('POST', '/sdk/unregister', { access_token: renewed.access_token })
})

test('the administrator needs the token for any page', async () => {
  for (const path of ['/api/policy/state?after=5', '/api/policy/decisions?after=a'])
    expect(await relay.call('GET', path)).toMatchObject({ status: 401 })
})

describe('compression', () => {
  async function get(headers: Record<string, string>, method = 'GET') {
    const Host = `${ROOT_HOST}:${relay.port}`
    const where = { host: '127.0.0.1', port: relay.port, servername: ROOT_HOST, ca: relay.ca, agent: false }
    const request = httpsRequest({
      ...where,
      method,
      path: '/api/state',
      headers: { Host, ...headers },
    })
    const [response] = await once(request.end(), 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
  }

  test('is for those who take it, with a tag of its own', async () => {
    const plain = await get({})
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding' })
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const small = await get({ 'Accept-Encoding': 'br, gzip' })
    expect(small.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-encoding': 'gzip' })
    expect(small.headers['content-length']).toBe(`${small.body.length}`)
    expect(small.body.length).toBeLessThan(plain.body.length / 10)
    expect(gunzipSync(small.body)).toEqual(plain.body)
    expect(small.headers.etag).not.toBe(plain.headers.etag)
    const known = { 'If-None-Match': small.headers.etag!, 'Accept-Encoding': 'gzip' }
    expect(await get(known)).toMatchObject({
      status: 304,
      headers: { etag: small.headers.etag, vary: 'Accept-Encoding' },
    })
    // A client that takes no gzip does not get it.
    expect(await get({ 'If-None-Match': small.headers.etag! })).toMatchObject({ status: 200 })
    const head = await get({ 'Accept-Encoding': 'gzip' }, 'HEAD')
    expect(head).toMatchObject({
      status: 200,
      headers: { 'content-encoding': 'gzip', etag: small.headers.etag },
    })
    expect(head.body.length).toBe(0)
  })

  test('is not worth it for a short list', async () => {
    const answer = await relay.call('GET', '/api/state?after=999999', undefined, {
      'Accept-Encoding': 'gzip',
    })
    expect(answer.headers).not.toHaveProperty('content-encoding')
  })
})

describe('a page', () => {
  afterEach(() => void vi.useRealTimers())

  test('has one item at least, and no more than fit', () => {
    const items = (...sizes: number[]) =>
      sizes.map((size, at): [string, string] => [`${at}`, 'x'.repeat(size)])
    expect(fillPage(items(), 10)).toEqual({ items: [], next: undefined })
    expect(fillPage(items(100), 10)).toMatchObject({ next: undefined })
    expect(fillPage(items(100, 1), 10)).toMatchObject({ items: ['x'.repeat(100)], next: '0' })
    expect(fillPage(items(2, 2, 2), 10)).toMatchObject({ items: ['xx', 'xx'], next: '1' })
  })

  test('is made once as long as nothing changes, and anew at once when something does', () => {
    let state = 1
    const cache = new ListCache(() => state)
    const [first, second] = [cache.take(''), cache.take('')]
    expect(second.body).toBe(first.body)
    state = 2
    const third = cache.take('')
    expect(`${third.body}`).toBe('{"ok":true,"data":2}')
    expect(third.tag).not.toBe(first.tag)
  })

  test.each([
    ['', FIRST_LIST_PAGE_RATE.burst],
    ['1', OTHER_LIST_PAGE_RATE.burst],
  ])('%j is made %i times at once; then it is sent as it was', (after, burst) => {
    // No time passes, in which another one might be allowed.
    vi.useFakeTimers({ toFake: ['performance'] })
    let made = 0
    const cache = new ListCache(() => ++made)
    for (let i = 0; i < burst + 50; i++) cache.take(after).release()
    expect(made).toBeLessThan(burst + 10)
    expect(JSON.parse(`${cache.take(after).body}`).data).toBeLessThanOrEqual(made)
    expect(JSON.parse(`${cache.take(after === '' ? '1' : '').body}`).data).toBe(made)
  })

  test('that was never made cannot be sent when too many are made', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const cache = new ListCache(() => 1)
    const takeMany = () => {
      for (let i = 1; i <= 2 * OTHER_LIST_PAGE_RATE.burst; i++) cache.take(`${i}`).release()
    }
    expect(takeMany).toThrow(expect.objectContaining({ code: 'rate_limited', status: 429 }))
  })
})

describe('the memory of pages', () => {
  const text = 'x'.repeat(1_000)

  test('is bounded: those that nobody is sent go, the one that was asked for longest ago first', () => {
    const cache = new ListCache(() => text, 5_000)
    for (let i = 1; i <= 100; i++) cache.take(`${i}`).release()
    expect(cache.bytes).toBeLessThanOrEqual(5_000)
    expect(cache.bytes).toBeGreaterThan(3_000)
  })

  test('counts those that are on their way, and there are no more than fit', () => {
    let version = 0
    const cache = new ListCache(() => `${version++}${text}`, 5_000)
    const held = [1, 2, 3, 4].map((after) => cache.take(`${after}`))
    expect(() => cache.take('5')).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    // It is another one now, but there is no room for that.
    expect(cache.take('4').body).toBe(held[3]!.body)
    expect(cache.bytes).toBeLessThanOrEqual(5_000)
    for (const page of held) page.release()
    expect(() => cache.take('5')).not.toThrow()
    expect(cache.bytes).toBeLessThanOrEqual(5_000)
  })

  test('counts their compressed forms', async () => {
    const cache = new ListCache(() => text.repeat(10))
    const page = cache.take('')
    const compressed = await page.gzip()
    expect(cache.bytes).toBe(page.body.length + compressed!.length)
    page.release()
    expect(cache.bytes).toBe(page.body.length + compressed!.length)
  })

  test('one page is compressed at a time, once', async () => {
    const cache = new ListCache((after) => `${after}${text.repeat(10)}`)
    const [first, second] = [cache.take('1'), cache.take('2')]
    const compressing = first.gzip()
    expect(await second.gzip()).toBeUndefined()
    const compressed = await compressing
    expect(gunzipSync(compressed!)).toEqual(first.body)
    expect(await first.gzip()).toBe(compressed)
    expect(await second.gzip()).toBeDefined()
  })
})

test('the decisions of an operator who decided much are each on one page', () => {
  const key = (index: number) => `name${index}:0x${index.toString(16).padStart(40, '0')}`
  const keys = Array.from({ length: 9_000 }, (_, index) => key(index))
  const all = {
    approved: keys.filter((_, index) => index % 2 === 0),
    denied: keys.filter((_, index) => index % 3 === 0),
    banned: keys.filter((_, index) => index % 5 === 0),
    banned_ips: Array.from({ length: 9_000 }, (_, index) => `192.0.${index >> 8}.${index & 255}`),
    banned_relays: Array.from({ length: 900 }, (_, index) => `https://relay${index}.example`),
    banned_domains: Array.from({ length: 900 }, (_, index) => `domain${index}.example`),
    bps: Object.fromEntries(keys.map((one, index) => [one, index + 1])),
  }
  const pages: PolicyDecisionsResponse[] = []
  for (let after: string | undefined = ''; after !== undefined; after = pages.at(-1)!.next)
    pages.push(pageOfDecisions(all, after))
  expect(pages.length).toBeGreaterThan(2)
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(2 * LIST_PAGE_BYTES)
  for (const list of [
    'approved',
    'denied',
    'banned',
    'banned_ips',
    'banned_relays',
    'banned_domains',
  ] as const)
    expect(pages.flatMap((page) => page[list]).toSorted()).toEqual(all[list].toSorted())
  expect(Object.assign({}, ...pages.map(({ bps }) => bps))).toEqual(all.bps)
})

test('10,000 leases: a page anywhere is found at once', () => {
  const leases = new LeaseRegistry(new RoutingTable<Route>('relay.localhost', ROOT_ROUTE), new Reservations())
  for (let index = 0; index < 10_000; index++) {
    const address = `0x${index.toString(16).padStart(40, '0')}`
    const request = {
      identity: { name: `n${index}`, address },
      allowCanonicalFallback: false,
      metadata: {},
      ttlS: 600,
    }
    leases.draft(request, { clientIp: '192.0.2.1', reportedIp: undefined }).commit()
  }
  const [begin] = leases.after(0)
  expect(begin?.identity.name).toBe('n0')
  const sequences = Array.from({ length: 1_000 }, (_, index) => 1 + 10 * index)
  const lookEverywhere = (): string[] =>
    sequences.flatMap((sequence) => [...firstOf(leases.after(sequence))].map(({ identity }) => identity.name))
  expect(lookEverywhere()).toEqual(sequences.map((sequence) => `n${sequence}`))
  // To look from the beginning each time would be 500 walks over the whole list. The best of several rounds counts: other
  // work on the machine lengthens some of them.
  const best = (act: () => void): number => Math.min(...Array.from({ length: 9 }, () => took(act)))
  const walkMs = best(() => expect([...leases.after(0)].length).toBe(10_000))
  expect(best(lookEverywhere)).toBeLessThan(100 * walkMs)
  leases.end([...leases.after(4_999)][0]!, 'unregistered')
  expect([...leases.after(4_999)][0]?.identity.name).toBe('n5000')
})

/** How many milliseconds `act` takes. */
function took(act: () => void): number {
  const from = performance.now()
  act()
  return performance.now() - from
}

function* firstOf<T>(items: Iterable<T>): Generator<T> {
  for (const item of items) return yield item
}
