// A site never says that it is online while the relay lets nobody in: it says why it waits, and until when.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SvcErrorCode } from '../../src/errors.ts'
import { type PlatformSite, publishOn } from '../../src/publish.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import { failing, RelayDouble, testPlatform } from '../support/relay-double.ts'

let relay: RelayDouble
let site: PlatformSite
let publishing: Promise<unknown>
/** Each state as it was told of, with the reason for waiting. */
let told: string[]
let errors: SvcErrorCode[]

beforeEach(async () => {
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await site.close()
  await relay.crash()
})

/** Resolves when there is a site, which is before it connects. */
async function begin(options: Partial<PublishOptions> = {}): Promise<void> {
  told = []
  errors = []
  const { promise, resolve } = Promise.withResolvers<PlatformSite>()
  publishing = publishOn(testPlatform(), {
    relay: relay.url,
    name: 'demo',
    fetch: () => new Response('hello'),
    ...options,
    onSite: (begun) => resolve(begun as PlatformSite),
  })
  publishing.catch(() => {})
  site = await promise
  expect([site.state, site.url]).toEqual(['connecting', ''])
  site.addEventListener('statechange', () =>
    told.push(site.waiting ? `${site.state}: ${site.waiting.reason}` : site.state),
  )
  site.addEventListener('error', ({ error }) => errors.push(error.code))
}

const soon = { interval: 5 }
const later = { interval: 20 }

describe('rate_limited', () => {
  it('is told with the time at which the relay is asked again', async () => {
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '2' })
    const before = Date.now()
    await begin()
    await vi.waitFor(() => expect(site.state).toBe('waiting'), soon)
    const { reason, until } = site.waiting!
    expect(reason).toBe('rate_limited')
    expect(until! - before).toBeGreaterThanOrEqual(2_000)
    expect(until! - Date.now()).toBeLessThanOrEqual(2_000)
    relay.overrides = {}
    expect(await publishing).toBe(site)
    expect(site.waiting).toBeUndefined()
    expect([told, errors]).toEqual([['waiting: rate_limited', 'online'], ['rate_limited']])
  })

  it('is told again when the relay asks to wait again', async () => {
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '1' })
    await begin()
    await vi.waitFor(() => expect(told).toHaveLength(2), later)
    expect(told).toEqual(['waiting: rate_limited', 'waiting: rate_limited'])
  })

  it('of a site that was online is told as well', async () => {
    await begin()
    await publishing
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '1' })
    relay.endLease(4001)
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('rate_limited'), later)
    relay.overrides = {}
    await vi.waitFor(() => expect(site.state).toBe('online'), later)
    expect(told).toEqual(['online', 'reconnecting', 'waiting: rate_limited', 'online'])
  })

  it('may be left by close, and publish rejects', async () => {
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '300' })
    await begin()
    await vi.waitFor(() => expect(site.state).toBe('waiting'), soon)
    await site.close()
    await expect(publishing).rejects.toMatchObject({ code: 'aborted' })
    expect([site.state, site.waiting]).toEqual(['closed', undefined])
  })

  it.each(['hostname_conflict', 'tcp_port_disabled'])(
    'is over with %s, and publish rejects',
    async (code) => {
      relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '1' })
      await begin()
      await vi.waitFor(() => expect(site.state).toBe('waiting'), soon)
      relay.overrides['/sdk/register'] = failing(409, code)
      await expect(publishing).rejects.toMatchObject({ code })
      expect(site.state).toBe('closed')
      expect(errors).toEqual(['rate_limited', code])
    },
  )

  it('outlasts a relay that goes away meanwhile', async () => {
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '1' })
    await begin()
    await vi.waitFor(() => expect(site.state).toBe('waiting'), soon)
    const { port } = relay
    await relay.crash()
    await vi.waitFor(() => expect(site.state).toBe('connecting'), later)
    relay.overrides = {}
    await relay.listen(port)
    expect(await publishing).toBe(site)
  })
})

describe('relay_full', () => {
  it('is what a relay without room for another lease is', async () => {
    relay.overrides['/sdk/register'] = failing(503, 'feature_unavailable')
    const before = Date.now()
    await begin()
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('relay_full'), soon)
    expect(site.waiting!.until).toBeGreaterThanOrEqual(before)
    expect(errors).toContain('relay_full')
    relay.overrides = {}
    await publishing
    expect(site.state).toBe('online')
  })

  it.each(['/sdk/register/challenge', '/sdk/register'])(
    'is told with the time at which %s is asked again, at first and when the lease is lost',
    async (path) => {
      const engineIsDown = failing(503, 'feature_unavailable', { 'Retry-After': '2' })
      relay.overrides[path] = engineIsDown
      let before = Date.now()
      const waits = async (): Promise<void> => {
        await vi.waitFor(() => expect(site.waiting?.reason).toBe('relay_full'), soon)
        const { until } = site.waiting!
        expect(until! - before).toBeGreaterThanOrEqual(2_000)
        expect(until! - Date.now()).toBeLessThanOrEqual(2_000)
        relay.overrides = {}
        await vi.waitFor(() => expect(site.state).toBe('online'), later)
        expect(Date.now()).toBeGreaterThanOrEqual(until! - 5)
      }
      await begin()
      await waits()
      await publishing
      relay.overrides[path] = engineIsDown
      before = Date.now()
      relay.endLease(4001)
      await waits()
      expect(errors).toEqual(['relay_full', 'lease_ended', 'relay_full'])
    },
  )

  it('is what a relay without a port is to a site that had one', async () => {
    await begin()
    await publishing
    relay.overrides['/sdk/register'] = failing(503, 'tcp_port_exhausted')
    relay.endLease(4001)
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('relay_full'), later)
  })

  it('is what a relay is that takes no session', async () => {
    relay.isFull = true
    await begin()
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('relay_full'), soon)
    relay.isFull = false
    await publishing
    expect(told).not.toContain('closed')
  })

  it('is what a relay is that takes no more sessions', async () => {
    await begin()
    await publishing
    await vi.waitFor(() => expect(relay.ready).toHaveLength(2), soon)
    relay.isFull = true
    // the renewal that could help does not come
    relay.overrides['/sdk/renew'] = failing(429, 'rate_limited', { 'Retry-After': '30' })
    for (const stream of relay.ready.splice(0)) stream.write(Uint8Array.of(0x01))
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('relay_full'), soon)
  })
})

describe('approval', () => {
  it('is waited for from the first second on, and publish resolves when it is there', async () => {
    relay.routing = 'approval'
    await begin()
    await vi.waitFor(() => expect(site.waiting).toEqual({ reason: 'approval', until: undefined }), soon)
    expect(site.url).toContain('https://demo.')
    await vi.waitFor(() => expect(relay.count('/sdk/reverse')).toBe(1), later)
    expect(site.state).toBe('waiting')
    relay.routing = 'allowed'
    expect(await publishing).toBe(site)
    expect([told, errors]).toEqual([['waiting: approval', 'online'], []])
    const looks = relay.count('/sdk/reverse')
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(relay.count('/sdk/reverse')).toBe(looks)
  })

  it('that is lost is told with the next renewal at the latest', async () => {
    relay.ttlS = 2
    await begin({ ttl: 2 })
    await publishing
    relay.routing = 'approval'
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('approval'), later)
    relay.routing = 'allowed'
    await vi.waitFor(() => expect(site.state).toBe('online'), later)
    expect(site.stats().reconnects).toBe(0)
  })

  it('is waited for across a relay that goes away', async () => {
    relay.routing = 'approval'
    await begin()
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('approval'), soon)
    await vi.waitFor(() => expect(relay.ready).toHaveLength(2), later)
    relay.endLease(4001)
    await vi.waitFor(() => expect(relay.count('/sdk/register')).toBe(2), later)
    await vi.waitFor(() => expect(site.waiting?.reason).toBe('approval'), later)
    relay.routing = 'allowed'
    expect(await publishing).toBe(site)
  })

  it('is not waited for by an identity that is not allowed: publish rejects, and gives the lease back', async () => {
    relay.routing = 'rejected'
    await begin()
    await expect(publishing).rejects.toMatchObject({ code: 'lease_rejected' })
    expect(relay.count('/sdk/unregister')).toBe(1)
    expect(relay.sockets).toHaveLength(0)
  })

  it('that ends with a ban is told with the ban, and the site is not online while that lasts', async () => {
    await begin()
    await publishing
    relay.routing = 'rejected'
    relay.endLease(4001)
    await vi.waitFor(() => expect(errors).toContain('lease_rejected'), later)
    expect(site.state).toBe('reconnecting')
    relay.routing = 'allowed'
    await vi.waitFor(() => expect(site.state).toBe('online'), later)
  })
})

it('a listener of a site that is being published may close it', async () => {
  relay.routing = 'approval'
  await begin()
  site.addEventListener('statechange', () => site.close())
  await expect(publishing).rejects.toMatchObject({ code: 'aborted' })
  await vi.waitFor(() => expect(relay.count('/sdk/unregister')).toBe(1), later)
})
