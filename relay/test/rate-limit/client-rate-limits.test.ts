// Tests the rate limits before authentication, and that a flood of one network costs no other network.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import type { RateLimitSettings } from '../../src/core/config/settings.ts'
import {
  CERTIFICATE_POLLS_PER_IDENTITY,
  CERTIFICATE_POLLS_PER_NETWORK,
  CERTIFICATES_PER_IDENTITY,
  PEER_BUDGET_FACTOR,
  RateLimits,
  SITE_QUESTIONS_PER_NETWORK,
  SITE_SEARCHES,
  SITE_SEARCHES_PER_NETWORK,
} from '../../src/core/rate-limit/client-rate-limits.ts'
import { newAccount, register, startTestRelay, type TestRelay } from '../support/relay.ts'

const DEFAULTS = { networkPerMinute: 10, relayPerMinute: 600 }
/** A map with this many entries takes several times the bound on memory below. */
const SOURCES: number = atDepth(1_000_000, 30_000)
const ALICE = '192.0.2.1'
const BOB = '192.0.2.2'

/** A key in a map alone takes twice as many. */
const BYTES_PER_SOURCE = 32
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns the memory in use once there is no garbage. */
function memory(): NodeJS.MemoryUsage {
  collect()
  return process.memoryUsage()
}

/** Seconds to wait, or undefined when the units were there. */
function charge(rateLimits: RateLimits, source: string, units: number): number | undefined {
  try {
    rateLimits.charge(source, units)
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'rate_limited', status: 429 })
    return Number((error as { headers: Record<string, string> }).headers['Retry-After'])
  }
}

/** Returns how often it was charged. */
function chargedUntilRefused(charge: () => void): number {
  for (let count = 0; count < 100_000; count++) {
    try {
      charge()
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited' })
      return count
    }
  }
  return expect.fail('it is never refused')
}

describe('Budgets', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  // Slots are drawn by this key: a fixed one keeps the addresses below apart.
  const make = (settings: RateLimitSettings = DEFAULTS) =>
    new RateLimits(settings, () => false, Buffer.alloc(32))

  test('a source has a burst of 60 and 10 units a minute: ten registrations at once (protocol §2.4.1)', () => {
    const rateLimits = make()
    for (let i = 0; i < 10; i++)
      for (const units of [1, 5]) expect(charge(rateLimits, ALICE, units)).toBeUndefined()
    expect(charge(rateLimits, ALICE, 1)).toBe(6)
    vi.advanceTimersByTime(60_000)
    for (let i = 0; i < 10; i++) expect(charge(rateLimits, ALICE, 1)).toBeUndefined()
    expect(charge(rateLimits, ALICE, 1)).toBe(6)
    vi.advanceTimersByTime(3_600_000)
    for (let i = 0; i < 12; i++) expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
    expect(charge(rateLimits, ALICE, 1)).toBe(6)
  })

  test('a refusal names the limit, with its setting', () => {
    const texts = [
      { networkPerMinute: 10, relayPerMinute: 600 },
      { networkPerMinute: 1000, relayPerMinute: 6 },
    ].map((settings) => {
      const rateLimits = make(settings)
      for (;;)
        try {
          rateLimits.charge(ALICE, 6)
        } catch (error) {
          return (error as Error).message
        }
    })
    expect(texts).toEqual([
      'too many requests from your network, which have 10 units a minute and 60 at once (SOURCE_BUDGET_PER_MINUTE); a registration takes 6',
      'too many requests from all networks together, which have 6 units a minute and 6 at once (RELAY_BUDGET_PER_MINUTE); a registration takes 6',
    ])
  })

  test('a relay on localhost spares clients on its machine, and nobody else', () => {
    const rateLimits = make({ ...DEFAULTS, sparesLoopback: true })
    for (const ip of ['127.0.0.1', '127.9.9.9', '::1'])
      for (let i = 0; i < 1000; i++) expect(charge(rateLimits, ip, 6)).toBeUndefined()
    expect(chargedUntilRefused(() => rateLimits.charge(ALICE, 6))).toBe(10)
    const usual = make()
    expect(chargedUntilRefused(() => usual.charge('127.0.0.1', 6))).toBe(10)
  })

  test('Retry-After is rounded up, and right to the millisecond', () => {
    const rateLimits = make()
    for (let i = 0; i < 12; i++) charge(rateLimits, ALICE, 5)
    expect(charge(rateLimits, ALICE, 5)).toBe(30)
    vi.advanceTimersByTime(999)
    expect(charge(rateLimits, ALICE, 5)).toBe(30)
    vi.advanceTimersByTime(1)
    expect(charge(rateLimits, ALICE, 5)).toBe(29)
    vi.advanceTimersByTime(28_999)
    expect(charge(rateLimits, ALICE, 5)).toBe(1)
    vi.advanceTimersByTime(1)
    expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
  })

  test('another relay has twelve times as much, for the sites that come through it', () => {
    const rateLimits = new RateLimits({ networkPerMinute: 10, relayPerMinute: 60_000 }, (ip) => ip === ALICE)
    expect(chargedUntilRefused(() => rateLimits.charge(BOB, 1))).toBe(60)
    expect(chargedUntilRefused(() => rateLimits.charge(ALICE, 1))).toBe(60 * PEER_BUDGET_FACTOR)
  })

  test('what is refused is not charged, to neither budget', () => {
    const rateLimits = make({ networkPerMinute: 10, relayPerMinute: 30 })
    for (let i = 0; i < 30; i++) charge(rateLimits, ALICE, 1)
    // The relay's burst of 30 is spent: Bob's own units must not suffer from asking.
    for (let i = 0; i < 100; i++) expect(charge(rateLimits, BOB, 5)).toBe(10)
    vi.advanceTimersByTime(60_000)
    for (let i = 0; i < 6; i++) expect(charge(rateLimits, BOB, 5)).toBeUndefined()
    // And the other way round: a source without units does not use up the relay's.
    for (let i = 0; i < 20; i++) charge(rateLimits, ALICE, 5)
    vi.advanceTimersByTime(10_000)
    expect(charge(rateLimits, BOB, 5)).toBeUndefined()
  })

  test('all sources together have a burst of 600 and 600 units a minute (protocol §2.4.2)', () => {
    const rateLimits = make()
    for (let i = 0; i < 120; i++) expect(charge(rateLimits, `198.51.100.${i}`, 5)).toBeUndefined()
    expect(charge(rateLimits, ALICE, 5)).toBe(1)
    vi.advanceTimersByTime(500)
    expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
    expect(charge(rateLimits, BOB, 1)).toBe(1)
  })

  test('the addresses of one IPv6 /64 are one source', () => {
    const rateLimits = make()
    for (let i = 0; i < 60; i++) charge(rateLimits, `2001:db8:1:2::${i}`, 1)
    expect(charge(rateLimits, '2001:db8:1:2:ffff::1', 1)).toBe(6)
    expect(charge(rateLimits, '2001:db8:1:3::1', 1)).toBeUndefined()
  })

  test('another rate has a burst in proportion, and room for one registration at least', () => {
    const large = make({ networkPerMinute: 100, relayPerMinute: 6000 })
    for (let i = 0; i < 120; i++) expect(charge(large, ALICE, 5)).toBeUndefined()
    expect(charge(large, ALICE, 5)).toBe(3)
    const small = make({ networkPerMinute: 1, relayPerMinute: 1 })
    for (const units of [1, 5]) expect(charge(small, ALICE, units)).toBeUndefined()
    expect(charge(small, ALICE, 1)).toBe(60)
  })

  test('unregistering gives a registration back: a page may be reloaded again and again (protocol §2.4.4)', () => {
    const rateLimits = make()
    const register = () => charge(rateLimits, ALICE, 1) ?? charge(rateLimits, ALICE, 5)
    for (let i = 0; i < 10; i++) {
      expect(register()).toBeUndefined()
      rateLimits.refundRegistration(ALICE)
    }
    // The refunds of this minute are used up, the budget itself is not.
    for (let i = 0; i < 10; i++) {
      expect(register()).toBeUndefined()
      rateLimits.refundRegistration(ALICE)
    }
    expect(register()).toBe(6)
    vi.advanceTimersByTime(6_000)
    expect(charge(rateLimits, ALICE, 5)).toBe(24)
    rateLimits.refundRegistration(ALICE)
    expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
  })

  test('a refund never makes a budget larger than its burst', () => {
    const rateLimits = make()
    for (let i = 0; i < 10; i++) rateLimits.refundRegistration(ALICE)
    for (let i = 0; i < 12; i++) expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
    expect(charge(rateLimits, ALICE, 1)).toBe(6)
  })

  test(`${SOURCES} sources take no memory, and no unit from one who is not among them`, () => {
    const rateLimits = make()
    // Stack traces of this many refusals would be most of what this test takes.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    const before = memory()
    let served = 0
    for (let i = 0; i < SOURCES; i++) {
      const source = `2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}::1`
      try {
        rateLimits.charge(source, 1)
        served += 1
      } catch {}
    }
    const { arrayBuffers, heapUsed } = memory()
    Error.stackTraceLimit = stackTraceLimit
    expect(served).toBe(600)
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(1e6)
    expect(heapUsed - before.heapUsed).toBeLessThan(BYTES_PER_SOURCE * SOURCES)
    vi.advanceTimersByTime(2_000)
    for (let i = 0; i < 4; i++) expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
  })
})

describe('over HTTP', () => {
  let relay: TestRelay
  /** Each test is a client with an address of its own. */
  let client: Record<string, string>
  let clients = 0
  beforeAll(async () => {
    relay = await startTestRelay({
      SOURCE_BUDGET_PER_MINUTE: '10',
      RELAY_BUDGET_PER_MINUTE: '6000',
      TRUSTED_PROXIES: '127.0.0.1',
    })
  })
  beforeEach(() => {
    clients += 1
    client = { Forwarded: `for=192.0.2.${clients}` }
    // The relay's clock stands still: no unit comes back while a test is slow.
    const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint())
    return () => clock.mockRestore()
  })
  afterAll(() => relay.close())

  const call: TestRelay['call'] = (method, path, body) => relay.call(method, path, body, client)

  test('challenge costs 1 and register 5, before anything of the request is looked at (protocol §2.4.3)', async () => {
    for (let i = 0; i < 11; i++)
      expect(await call('POST', '/sdk/register', 'not JSON')).toMatchObject({ status: 400 })
    for (let i = 0; i < 5; i++)
      expect(await call('POST', '/sdk/register/challenge', {})).toMatchObject({ status: 400 })
    const waits = []
    for (const path of ['/sdk/register/challenge', '/sdk/register']) {
      const refused = await call('POST', path, 'not JSON')
      expect(refused).toMatchObject({ status: 429, json: { ok: false, error: { code: 'rate_limited' } } })
      expect(refused.headers['access-control-expose-headers']).toMatch(/\bRetry-After\b/)
      waits.push(Number(refused.headers['retry-after']))
    }
    expect(waits[0]).toBeGreaterThanOrEqual(1)
    expect(waits[0]).toBeLessThanOrEqual(6)
    expect(waits[1]! - waits[0]!).toBeGreaterThan(18)
  })

  test('who goes on asking waits 20 ms for each refusal', async () => {
    for (let i = 0; i < 12; i++) await call('POST', '/sdk/register', 'not JSON')
    const before = performance.now()
    for (let i = 0; i < 10; i++)
      expect(await call('POST', '/sdk/register', 'not JSON')).toMatchObject({ status: 429 })
    // a timer may fire a millisecond early
    expect(performance.now() - before).toBeGreaterThan(10 * 19)
  })

  test('renewals and other endpoints cost nothing', async () => {
    const { access_token } = await register({ call }, `demo-${clients}`)
    for (let i = 0; i < 60; i++) await call('POST', '/sdk/register/challenge', {})
    expect(await call('POST', '/sdk/register/challenge', {})).toMatchObject({ status: 429 })
    expect(await call('POST', '/sdk/renew', { access_token })).toMatchObject({ status: 200 })
    expect(await call('GET', '/sdk/domain')).toMatchObject({ status: 200 })
  })

  test('registering and unregistering ten times a minute is fine; another token gives nothing back', async () => {
    const account = newAccount()
    for (let i = 0; i < 10; i++) {
      const { access_token } = await register({ call }, `demo-${clients}`, { account })
      expect(await call('POST', '/sdk/unregister', { access_token })).toMatchObject({ status: 200 })
      expect(await call('POST', '/sdk/unregister', { access_token })).toMatchObject({ status: 404 })
    }
    for (let i = 0; i < 12; i++) await call('POST', '/sdk/register', {})
    await call('POST', '/sdk/unregister', { access_token: 'guess' })
    expect(await call('POST', '/sdk/register', {})).toMatchObject({ status: 429 })
  })
})

describe('of a network', () => {
  // It has units for one registration.
  const settings = { SOURCE_BUDGET_PER_MINUTE: '1' }

  test('a registration that fails costs the next one nothing', async () => {
    const relay = await startTestRelay({ ...settings, TRUSTED_PROXIES: '127.0.0.1' })
    const from = (ip: string): Pick<TestRelay, 'call'> => ({
      call: (method, path, body) => relay.call(method, path, body, { Forwarded: `for=${ip}` }),
    })
    await register(from('192.0.2.1'), 'taken')
    await expect(register(from('192.0.2.2'), 'taken')).rejects.toThrow('hostname_conflict')
    await register(from('192.0.2.2'), 'other')
    await expect(register(from('192.0.2.2'), 'third')).rejects.toThrow('rate_limited')
    await relay.close()
  })

  test('that is the machine of a relay on localhost, sixty sites register at once by default', async () => {
    const relay = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '' })
    await Promise.all(Array.from({ length: 60 }, (_, i) => relay.register(`site-${i}`)))
    await relay.close()
  })

  wholeOnly(test, 'variant')('with a raised budget, sixty sites register at once', async () => {
    const relay = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '100000', RELAY_BUDGET_PER_MINUTE: '' })
    await Promise.all(Array.from({ length: 60 }, (_, i) => relay.register(`site-${i}`)))
    await relay.close()
  })
})

describe('a site that asks for its certificate again and again', () => {
  // Units that come back meanwhile would count.
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is refused after its burst, and may order a certificate as before', () => {
    const rateLimits = new RateLimits(DEFAULTS)
    const { burst } = CERTIFICATE_POLLS_PER_IDENTITY
    expect(chargedUntilRefused(() => rateLimits.chargeCertificatePoll(ALICE, 'demo:0x1'))).toBe(burst)
    const orders = chargedUntilRefused(() => rateLimits.chargeCertificate(ALICE, 'demo:0x1'))
    expect(orders).toBe(CERTIFICATES_PER_IDENTITY.burst)
  })

  test('of many identities takes its network no further than the burst of that, and no other network', () => {
    const rateLimits = new RateLimits(DEFAULTS)
    const { burst } = CERTIFICATE_POLLS_PER_NETWORK
    let identity = 0
    expect(chargedUntilRefused(() => rateLimits.chargeCertificatePoll(ALICE, `demo:${identity++}`))).toBe(
      burst,
    )
    rateLimits.chargeCertificatePoll(BOB, 'other:0x1')
  })
})

describe('Sites of other relays', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('a network has its burst of searches, and all networks together have theirs', () => {
    const rateLimits = new RateLimits(DEFAULTS, () => false, Buffer.alloc(32))
    const search = (network: number, wasFoundBefore = false) =>
      chargedUntilRefused(() => rateLimits.chargeSiteSearch(`192.0.2.${network}`, wasFoundBefore))
    expect(search(1)).toBe(SITE_SEARCHES_PER_NETWORK.burst)
    expect(search(2)).toBe(SITE_SEARCHES_PER_NETWORK.burst)
    let others = 0
    for (let network = 3; network < 20; network++) others += search(network)
    expect(others).toBe(SITE_SEARCHES.burst - 2 * SITE_SEARCHES_PER_NETWORK.burst)
    expect(search(20)).toBe(0)
    // They take nothing of the searches for sites that were found before, nor of the budget before authentication.
    expect(search(20, true)).toBe(SITE_SEARCHES_PER_NETWORK.burst)
    for (let i = 0; i < 4; i++) expect(charge(rateLimits, ALICE, 5)).toBeUndefined()
    vi.advanceTimersByTime(60_000)
    expect(search(1)).toBe(SITE_SEARCHES_PER_NETWORK.burst)
  })

  test('a network has its burst of questions, and takes nothing from another one', () => {
    const rateLimits = new RateLimits(DEFAULTS, () => false, Buffer.alloc(32))
    const { burst } = SITE_QUESTIONS_PER_NETWORK
    expect(chargedUntilRefused(() => rateLimits.chargeSiteQuestion(ALICE))).toBe(burst)
    rateLimits.chargeSiteQuestion(BOB)
  })
})

describe('Requests to the static cache', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const SITE = 'site:0x00'

  test('pay for their time: a slow upload is let through, and those after it wait', () => {
    const rateLimits = new RateLimits(DEFAULTS, () => false, Buffer.alloc(32))
    for (let uploads = 0; uploads < 2; uploads++) {
      const end = rateLimits.beginCacheRequest(ALICE, SITE)
      vi.advanceTimersByTime(120_000)
      end()
    }
    // Of 150 s and what two minutes bring, 240 were used.
    expect(() => rateLimits.beginCacheRequest(BOB, SITE)).toThrow(
      expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': expect.any(String) } }),
    )
    expect(() => rateLimits.beginCacheRequest(BOB, 'other:0x00')).not.toThrow()
  })

  test('of one network take half of the places, whatever their identities', () => {
    const rateLimits = new RateLimits(DEFAULTS, () => false, Buffer.alloc(32))
    let [used, at] = [0, 0]
    const begin = (): (() => void) | undefined => {
      try {
        return rateLimits.beginCacheRequest(ALICE, `site${at}:0x00`)
      } catch {
        return undefined
      }
    }
    const MINUTES = 60
    for (; at < MINUTES; at++) {
      const ends = [begin(), begin()]
      vi.advanceTimersByTime(60_000)
      for (const end of ends) {
        end?.()
        if (end) used += 60
      }
    }
    expect(used).toBeLessThan(60 * MINUTES + 300 + 2 * 60)
    expect(used).toBeGreaterThan(0.9 * 60 * MINUTES)
  })

  test('that are short cost a tenth of a second', () => {
    const rateLimits = new RateLimits(DEFAULTS, () => false, Buffer.alloc(32))
    let requests = 0
    expect(() => {
      for (; requests < 10_000; requests++) rateLimits.beginCacheRequest(ALICE, SITE)()
    }).toThrow()
    expect(requests).toBe(1_500)
  })
})
