// The lease: renewed ahead of its end by a timer or by traffic, whatever the clocks say, and given back.

import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { RelayClient } from '../src/control/client.ts'
import { LeaseKeeper } from '../src/control/lease-keeper.ts'
import { identityFromKey } from '../src/identity/key.ts'
import { RENEWAL_RETRY_MS } from '../src/limits.ts'
import { CHALLENGE_ID, goodMessage, grant, RELAY, registration } from './support/fake-relay.ts'

const identity = identityFromKey(new Uint8Array(32).fill(1))
const TTL_S = 120
const never = new AbortController().signal
/** The relay's clock is years away from the page's. */
const RELAY_AHEAD_MS = 3e11

let calls: { path: string; body: Record<string, unknown>; keepalive: boolean | undefined }[]
let replies: Record<string, () => [status: number, body: object]>
let events: Record<'registered' | 'renewed' | 'failed' | 'gone', Mock<() => void>>
let keeper: LeaseKeeper

const ok = (data: object): [number, object] => [200, { ok: true, data }]
const no = (status: number, code: string): [number, object] => [
  status,
  { ok: false, error: { code, message: '' } },
]
const expiry = (): string => new Date(Date.now() + RELAY_AHEAD_MS + TTL_S * 1000).toISOString()
const paths = (): string[] => calls.map(({ path }) => path)

let retryAfter: Record<string, string>

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
  const client = new RelayClient(RELAY, async (url, init) => {
    const path = new URL(url).pathname
    calls.push({ path, body: JSON.parse(String(init.body ?? '{}')), keepalive: init.keepalive })
    const [status, body] = replies[path]!()
    return new Response(JSON.stringify(body), { status, headers: retryAfter })
  })
  events = { registered: vi.fn(), renewed: vi.fn(), failed: vi.fn(), gone: vi.fn() }
  const request = { name: 'demo', identity, ttlS: TTL_S, allowCanonicalFallback: false, metadata: undefined }
  keeper = new LeaseKeeper(client, request, events)
})
afterEach(() => {
  keeper.drop()
  vi.useRealTimers()
})

describe('renewal', () => {
  it('is due at half the time to live, again and again', async () => {
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
    vi.setSystemTime(Date.now() + TTL_S * 500 - 1) // moves the clock, fires nothing
    keeper.touch()
    expect(paths()).not.toContain('/sdk/renew')
    vi.setSystemTime(Date.now() + 1)
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

  it('is not tried before the time that Retry-After names, whoever asks for it', async () => {
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
    vi.setSystemTime(Date.now() + TTL_S * 500)
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
    vi.setSystemTime(Date.now() + 99_000)
    expect(await attempt()).toBe('rate_limited')
    expect(paths().filter((path) => path === '/sdk/register/challenge')).toHaveLength(1)
    expect(calls.at(-1)!.body).toEqual(calls.at(-2)!.body)
    vi.setSystemTime(Date.now() + 1_000)
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

it("knows the relay's clock, and keeps up with a clock that jumps", async () => {
  await keeper.acquire(never)
  expect(Math.abs(keeper.relayNow - (Date.now() + RELAY_AHEAD_MS))).toBeLessThan(1000)
  const relayTime = (): number => Date.now() + RELAY_AHEAD_MS - 5e9
  vi.setSystemTime(Date.now() + 5e9)
  replies['/sdk/renew'] = () => ok(grant('2', new Date(relayTime() + TTL_S * 1000).toISOString()))
  keeper.touch()
  await vi.advanceTimersByTimeAsync(0)
  expect(Math.abs(keeper.relayNow - relayTime())).toBeLessThan(1000)
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
