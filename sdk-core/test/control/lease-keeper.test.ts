// The lease: renewed ahead of its end by a timer or by traffic, whatever the clocks say, and given back.

import type { LeaseMetadata } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { LeaseKeeper } from '../../src/control/lease-keeper.ts'
import { RENEWAL_RETRY_FIRST_MS, RENEWAL_RETRY_MS } from '../../src/control/limits.ts'
import { RelayClient } from '../../src/control/relay-client.ts'
import { identityFromKey } from '../../src/identity/key.ts'
import { CHALLENGE_ID, goodMessage, grant, RELAY, registration } from '../support/fake-relay.ts'

const identity = identityFromKey(new Uint8Array(32).fill(1))
const TTL_S = 120
const never = new AbortController().signal
/** The relay's clock is years away from the page's. */
const RELAY_AHEAD_MS = 3e11
const DAY_MS = 86_400_000

let calls: { path: string; body: Record<string, unknown>; keepalive: boolean | undefined }[]
let replies: Record<string, () => [status: number, body: object]>
let events: Record<'registered' | 'renewed' | 'failed' | 'gone' | 'reduced', Mock<() => void>>
let keeper: LeaseKeeper
let client: RelayClient

const ok = (data: object): [number, object] => [200, { ok: true, data }]
const no = (status: number, code: string): [number, object] => [
  status,
  { ok: false, error: { code, message: '' } },
]
const expiry = (): string => new Date(Date.now() + RELAY_AHEAD_MS + TTL_S * 1000).toISOString()
const paths = (): string[] => calls.map(({ path }) => path)

let retryAfter: Record<string, string>

/** Time passes on both clocks, and no timer fires. */
function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
  const now = performance.now() + ms
  const from = Date.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now + Date.now() - from)
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1e12 })
  calls = []
  retryAfter = {}
  let serial = 1
  replies = {
    '/sdk/domain': () => ok({ protocol_version: '10' }),
    '/sdk/register/challenge': () =>
      ok({ challenge_id: CHALLENGE_ID, siwe_message: goodMessage(identity.address) }),
    '/sdk/register': () => ok({ ...registration(identity.address), ...grant(`${serial++}`, expiry()) }),
    '/sdk/renew': () => ok(grant(`${serial++}`, expiry())),
    '/sdk/unregister': () => ok({}),
  }
  client = new RelayClient(RELAY, async (url, init) => {
    const path = new URL(url).pathname
    calls.push({ path, body: JSON.parse(String(init.body ?? '{}')), keepalive: init.keepalive })
    const [status, body] = replies[path]!()
    return new Response(JSON.stringify(body), { status, headers: retryAfter })
  })
  events = { registered: vi.fn(), renewed: vi.fn(), failed: vi.fn(), gone: vi.fn(), reduced: vi.fn() }
  const request = { name: 'demo', identity, ttlS: TTL_S, allowCanonicalFallback: false, metadata: undefined }
  keeper = new LeaseKeeper(client, request, events)
})
afterEach(() => {
  vi.restoreAllMocks()
  keeper.drop()
  vi.useRealTimers()
})

describe('renewal', () => {
  it('is due at half the time to live, again and again (protocol §6.2.1)', async () => {
    await keeper.acquire(never)
    await vi.advanceTimersByTimeAsync(TTL_S * 500 - 1)
    expect(paths()).not.toContain('/sdk/renew')
    await vi.advanceTimersByTimeAsync(1)
    expect(keeper.lease).toMatchObject({ accessToken: 'access.2', hostname: 'demo.relay.example' })
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(keeper.lease).toMatchObject({ accessToken: 'access.3', capability: 'capability.3' })
    expect(calls.at(-1)!.body).toMatchObject({ access_token: 'access.2' })
    expect(events.renewed).toHaveBeenCalledTimes(2)
  })

  it('is triggered by traffic after the due time where timers do not fire, and once only', async () => {
    await keeper.acquire(never)
    pass(TTL_S * 500 - 1)
    keeper.touch()
    expect(paths()).not.toContain('/sdk/renew')
    pass(1)
    keeper.touch()
    keeper.touch()
    await vi.advanceTimersByTimeAsync(0)
    keeper.touch()
    await vi.advanceTimersByTimeAsync(0)
    expect(paths().filter((path) => path === '/sdk/renew')).toHaveLength(1)
    expect(keeper.lease?.accessToken).toBe('access.2')
  })

  it('is tried again after a failure, and reports each', async () => {
    await keeper.acquire(never)
    replies['/sdk/renew'] = () => no(500, 'internal')
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(events.failed).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'internal' }))
    expect(keeper.lease?.accessToken).toBe('access.1')
    await vi.advanceTimersByTimeAsync(RENEWAL_RETRY_MS)
    expect(events.failed).toHaveBeenCalledTimes(2)
    replies['/sdk/renew'] = () => ok(grant('9', expiry()))
    await vi.advanceTimersByTimeAsync(RENEWAL_RETRY_MS)
    expect(keeper.lease?.accessToken).toBe('access.9')
  })

  it('without an answer is tried again soon, then less often, and soon again after a success (protocol §6.2.4)', async () => {
    await keeper.acquire(never)
    const renewals = (): number => paths().filter((path) => path === '/sdk/renew').length
    const renews = replies['/sdk/renew']!
    const cut = (): never => {
      throw new Error('the connection was cut')
    }
    for (let round = 1; round <= 2; round++) {
      replies['/sdk/renew'] = cut
      await vi.advanceTimersByTimeAsync(TTL_S * 500)
      const before = renewals()
      await vi.advanceTimersByTimeAsync(RENEWAL_RETRY_FIRST_MS)
      expect(renewals()).toBe(before + 1)
      await vi.advanceTimersByTimeAsync(3 * RENEWAL_RETRY_MS)
      expect(renewals() - before).toBeLessThanOrEqual(10)
      replies['/sdk/renew'] = renews
      while (events.renewed.mock.calls.length < round) await vi.advanceTimersByTimeAsync(100)
    }
    expect(events.failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'relay_unreachable' }))
    expect(keeper.lease?.accessToken).toBe('access.3')
  })

  it('is not tried before the time that Retry-After names, however often it is asked for (protocol §2.2.8)', async () => {
    await keeper.acquire(never)
    const renewals = (): number => paths().filter((path) => path === '/sdk/renew').length
    replies['/sdk/renew'] = () => no(429, 'rate_limited')
    retryAfter = { 'Retry-After': '30' }
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(renewals()).toBe(1)
    await vi.advanceTimersByTimeAsync(29_999)
    keeper.renewNow()
    keeper.touch()
    expect((await keeper.acquire(never)).accessToken).toBe('access.1')
    expect(renewals()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(renewals()).toBe(2)
  })

  it.each(['lease_not_found', 'unauthorized', 'invalid_request'])(
    'that is answered with %s ends the lease',
    async (code) => {
      await keeper.acquire(never)
      replies['/sdk/renew'] = () => no(404, code)
      await vi.advanceTimersByTimeAsync(TTL_S * 500)
      expect(events.gone).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code }))
      expect(keeper.lease).toBeUndefined()
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('that comes back after the lease was dropped changes nothing', async () => {
    await keeper.acquire(never)
    keeper.renewNow()
    keeper.drop()
    await vi.advanceTimersByTimeAsync(0)
    expect(keeper.lease).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('acquire', () => {
  it('renews a lease that is there, and registers when the relay forgot it', async () => {
    await keeper.acquire(never)
    expect((await keeper.acquire(never)).accessToken).toBe('access.2')
    replies['/sdk/renew'] = () => no(404, 'lease_not_found')
    expect((await keeper.acquire(never)).accessToken).toBe('access.3')
    expect(paths().slice(-4)).toEqual([
      '/sdk/renew',
      '/sdk/domain',
      '/sdk/register/challenge',
      '/sdk/register',
    ])
  })

  it('takes a lease as it is while that is not due, when told to trust it', async () => {
    await keeper.acquire(never)
    expect((await keeper.acquire(never, true)).accessToken).toBe('access.1')
    pass(TTL_S * 500)
    expect((await keeper.acquire(never, true)).accessToken).toBe('access.2')
  })

  it('keeps the lease when the relay only fails', async () => {
    await keeper.acquire(never)
    replies['/sdk/renew'] = () => no(429, 'rate_limited')
    await expect(keeper.acquire(never)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(keeper.lease?.accessToken).toBe('access.1')
  })

  it('shows the challenge that it signed again when the relay only asked to wait, for as long as it lives', async () => {
    const register = replies['/sdk/register']!
    replies['/sdk/register'] = () => no(429, 'rate_limited')
    const attempt = (): Promise<unknown> => keeper.acquire(never).catch(({ code }) => code)
    expect(await attempt()).toBe('rate_limited')
    pass(99_000)
    expect(await attempt()).toBe('rate_limited')
    expect(paths().filter((path) => path === '/sdk/register/challenge')).toHaveLength(1)
    expect(calls.at(-1)!.body).toEqual(calls.at(-2)!.body)
    pass(1_000)
    expect(await attempt()).toBe('rate_limited')
    expect(paths().filter((path) => path === '/sdk/register/challenge')).toHaveLength(2)
    replies['/sdk/register'] = register
    await keeper.acquire(never)
    expect(paths().slice(-3)).toEqual(['/sdk/register/challenge', '/sdk/register', '/sdk/register'])
  })

  it('asks for another challenge after any other refusal', async () => {
    const register = replies['/sdk/register']!
    replies['/sdk/register'] = () => no(403, 'unauthorized')
    await expect(keeper.acquire(never)).rejects.toMatchObject({ code: 'unauthorized' })
    replies['/sdk/register'] = register
    await keeper.acquire(never)
    expect(paths().filter((path) => path === '/sdk/register/challenge')).toHaveLength(2)
  })

  it('gives back a lease that was granted while the caller gave up', async () => {
    const controller = new AbortController()
    const register = replies['/sdk/register']!
    replies['/sdk/register'] = () => {
      controller.abort()
      return register()
    }
    await expect(keeper.acquire(controller.signal)).rejects.toMatchObject({ code: 'aborted' })
    expect(keeper.lease).toBeUndefined()
    expect(calls.at(-1)).toMatchObject({ path: '/sdk/unregister', body: { access_token: 'access.1' } })
  })
})

describe.each([
  ['a day forwards', DAY_MS],
  ['a day back', -DAY_MS],
])('a clock that is set %s', (_, ms) => {
  const renewals = (): number => paths().filter((path) => path === '/sdk/renew').length
  const relayNow = (): number => RELAY_AHEAD_MS + started + performance.now() - startedAt
  let started: number
  let startedAt: number
  beforeEach(async () => {
    ;[started, startedAt] = [Date.now(), performance.now()]
    replies['/sdk/renew'] = () => ok(grant('2', new Date(relayNow() + TTL_S * 1000).toISOString()))
    await keeper.acquire(never)
    vi.setSystemTime(Date.now() + ms)
  })

  it("does not change what is known of the relay's", () => {
    expect(Math.abs(client.clock.now - relayNow())).toBeLessThan(1_000)
  })

  it('has the lease renewed at the next traffic, once, and then when that is due', async () => {
    for (let heard = 0; heard < 5; heard++) {
      keeper.touch()
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(renewals()).toBe(1)
    expect(Math.abs(client.clock.now - relayNow())).toBeLessThan(1_000)
    await vi.advanceTimersByTimeAsync(TTL_S * 500 - 1)
    expect(renewals()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(renewals()).toBe(2)
  })

  it('leaves the time of renewals as it was, without any traffic', async () => {
    await vi.advanceTimersByTimeAsync(TTL_S * 500 - 1)
    expect(renewals()).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(renewals()).toBe(1)
  })
})

describe('release', () => {
  it.each([true, false])('unregisters with keepalive %s, and never fails', async (keepalive) => {
    await keeper.acquire(never)
    replies['/sdk/unregister'] = () => no(500, 'internal')
    await keeper.release(keepalive)
    expect(calls.at(-1)).toEqual({ path: '/sdk/unregister', body: { access_token: 'access.1' }, keepalive })
    expect(vi.getTimerCount()).toBe(0)
    await keeper.release(keepalive)
    expect(paths().filter((path) => path === '/sdk/unregister')).toHaveLength(1)
  })
})

describe('metadata that the relay does not take', () => {
  const texts = { description: 'what it is', tags: ['a'] }
  const full = { ...texts, thumbnail: 'data:image/png;base64,AAAA', hide: true }
  const asked = (path: string): unknown[] =>
    calls.filter((call) => call.path === path).map(({ body }) => body.metadata)

  /** A relay that takes only what `takes` says. */
  function begin(
    metadata: LeaseMetadata,
    takes: (metadata: LeaseMetadata) => boolean,
    code = 'invalid_request',
  ): void {
    for (const path of ['/sdk/register/challenge', '/sdk/renew']) {
      const grants = replies[path]!
      replies[path] = () => (takes(calls.at(-1)!.body.metadata as LeaseMetadata) ? grants() : no(400, code))
    }
    const request = { name: 'demo', identity, ttlS: TTL_S, allowCanonicalFallback: false, metadata }
    keeper = new LeaseKeeper(client, request, events)
  }

  it.each(['invalid_request', 'feature_unavailable'])('(%s) is left out: first the picture', async (code) => {
    begin(full, ({ thumbnail }) => thumbnail === undefined, code)
    await keeper.acquire(never)
    expect(asked('/sdk/register/challenge')).toEqual([full, { ...texts, hide: true }])
    expect(events.reduced).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        code: 'metadata_refused',
        message: expect.stringContaining('without its thumbnail'),
        cause: expect.objectContaining({ code }),
      }),
    )
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(asked('/sdk/renew')).toEqual([{ ...texts, hide: true }])
    expect(events.reduced).toHaveBeenCalledTimes(1)
  })

  it('is left out: then all texts, but never that the site is hidden (protocol §4.6.5)', async () => {
    begin(full, (metadata) => Object.keys(metadata).join() === 'hide')
    await keeper.acquire(never)
    expect(asked('/sdk/register/challenge').at(-1)).toEqual({ hide: true })
    expect(events.reduced).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        message: expect.stringContaining('without its description, tags, thumbnail'),
      }),
    )
  })

  it('is left out of a renewal, and the lease lives on', async () => {
    let isFull = false
    begin(full, ({ thumbnail }) => !(isFull && thumbnail))
    await keeper.acquire(never)
    isFull = true
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(keeper.lease?.accessToken).toBe('access.2')
    expect(events.reduced).toHaveBeenCalledTimes(1)
    expect(events.gone).not.toHaveBeenCalled()
  })

  it('is not sent at all when it is a picture that no relay takes', async () => {
    begin({ ...full, thumbnail: `data:,${'x'.repeat(256 * 1024)}` }, () => true)
    await keeper.acquire(never)
    expect(asked('/sdk/register/challenge')).toEqual([{ ...texts, hide: true }])
    expect(events.reduced).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: expect.stringContaining('at most 262144 characters') }),
    )
  })

  it('is not left out where the relay only asks to wait', async () => {
    retryAfter = { 'Retry-After': '2' }
    begin(full, () => false, 'feature_unavailable')
    await expect(keeper.acquire(never)).rejects.toMatchObject({ code: 'relay_full', retryAfterMs: 2_000 })
    expect(asked('/sdk/register/challenge')).toEqual([full])
    expect(events.reduced).not.toHaveBeenCalled()
  })

  it.each([
    ['the reason is another one', full, 3],
    ['there is nothing to leave out', { hide: true }, 1],
  ])('is not, when %s', async (_name, metadata, attempts) => {
    begin(metadata, () => false)
    await expect(keeper.acquire(never)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(asked('/sdk/register/challenge')).toHaveLength(attempts)
    expect(events.reduced).not.toHaveBeenCalled()
  })
})
