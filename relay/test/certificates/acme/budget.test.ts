// Tests the budget of ACME orders: a crowd of sites takes no part of the root host, pauses grow, and restarts forget nothing.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { AcmeError } from '../../../src/features/acme/authority.ts'
import { type BudgetedOrder, type BudgetRates, OrderBudget } from '../../../src/features/acme/budget.ts'
import {
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  IDENTITIES_MAX,
  RESTART_PAUSE_MAX_MS,
  SITE_FAILURES_MAX,
} from '../../../src/features/acme/limits.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LETS_ENCRYPT: BudgetRates = { ordersPerHour: 100, certificatesPerWeek: 50 }
const AMPLE: BudgetRates = { ordersPerHour: 1_000_000, certificatesPerWeek: 1_000_000 }
const ROOT: BudgetedOrder = { for: 'root', names: ['relay.test', '*.relay.test'] }
const log = createLog('silent')
let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-budget-'))
  vi.useFakeTimers()
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(directory, { recursive: true, force: true })
})

describe('a crowd of sites', () => {
  test('uses neither the week nor the hour up, and the root host and renewals have their part', async () => {
    const budget = await open(LETS_ENCRYPT)
    expect(await takeWhilePossible(budget, 200)).toBe(20)
    for (let day = 0; day < atDepth(30, 8); day++) {
      vi.advanceTimersByTime(DAY_MS)
      const taken = await takeWhilePossible(budget, 200)
      expect(taken).toBeGreaterThanOrEqual(5)
      expect(taken).toBeLessThanOrEqual(6)
    }
    const renewal = { ...site(999_999), renews: true }
    await budget.take(renewal)
    for (let order = 0; order < 10; order++) await budget.take({ ...ROOT })
  })

  test('of failing orders leaves the root host and renewals their part of the hour', async () => {
    const budget = await open(LETS_ENCRYPT)
    const failed = await takeWhilePossible(budget, 500, (order) => budget.failed(order, new Error('no')))
    expect(failed).toBe(60)
    expect(await takeWhilePossible(budget, 500, undefined, { renews: true })).toBe(20)
    for (let order = 0; order < 10; order++) await budget.take({ ...ROOT, names: [`r${order}.test`] })
  })

  test('of names of one identity gets what one identity gets', async () => {
    const budget = await open(LETS_ENCRYPT)
    const take = (index: number) => budget.take({ ...site(index), identityKey: '0xone' })
    for (let index = 0; index < 5; index++) await take(index)
    const refused = await errorOf(take(5))
    expect(refused.message).toMatch(/^s5\.relay\.test: its identity has had its certificates of this week/)
    vi.advanceTimersByTime(refused.retryAfterMs!)
    await take(5)
  })

  test('fills no memory, and no file', async () => {
    const budget = await open(AMPLE)
    const count = SITE_FAILURES_MAX + 100
    // Each write of a large file takes a while, so all orders are taken in one turn and share it.
    const orders = Array.from({ length: count }, (_, index) => site(index))
    await Promise.all(orders.map((order) => budget.take(order)))
    await budget.take(ROOT)
    await budget.failed(ROOT, new Error('no'))
    await Promise.all(orders.map((order) => budget.failed(order, new Error('x'.repeat(10_000)))))
    const saved = JSON.parse(await readFile(join(directory, 'acme-budget.json'), 'utf8'))
    expect(saved.site_failures).toHaveLength(SITE_FAILURES_MAX)
    expect(Object.keys(saved.identities).length).toBeLessThanOrEqual(IDENTITIES_MAX)
    expect((await stat(join(directory, 'acme-budget.json'))).size).toBeLessThan(3_000_000)
    const reopened = await open(AMPLE)
    expect((await errorOf(reopened.take(ROOT))).retryAfterMs).toBeGreaterThan(0)
  })
})

test('whatever the root host and sites order, in no hour and no week are there more than the settings say', async () => {
  const step = fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: DAY_MS })),
    crowd: fc.integer({ min: 1, max: 40 }),
    isRoot: fc.boolean(),
    outcome: fc.constantFrom('succeeded', 'failed', 'restart', 'none'),
  })
  const rates = fc.record({
    ordersPerHour: fc.integer({ min: 1, max: 30 }),
    certificatesPerWeek: fc.integer({ min: 1, max: 60 }),
  })
  await fc.assert(
    fc.asyncProperty(rates, fc.array(step, { maxLength: 25 }), async (limits, steps) => {
      await rm(join(directory, 'acme-budget.json'), { force: true })
      let budget = await open(limits)
      const orders: number[] = []
      const certificates: number[] = []
      let index = 0
      for (const { waitMs, crowd, isRoot, outcome } of steps) {
        vi.advanceTimersByTime(waitMs)
        for (let one = 0; one < crowd; one++) {
          const order: BudgetedOrder = isRoot ? { ...ROOT } : site(index++)
          if (!(await isTaken(budget, order))) break
          orders.push(Date.now())
          if (outcome === 'failed') await budget.failed(order, new Error('no'))
          else certificates.push(Date.now())
          if (outcome === 'succeeded') await budget.succeeded(order)
        }
        if (outcome === 'restart') budget = await open(limits)
      }
      // What comes back during a period may be spent in it too, as at Let's Encrypt.
      expect(busiest(orders, HOUR_MS)).toBeLessThanOrEqual(2 * limits.ordersPerHour + 1)
      expect(busiest(certificates, 7 * DAY_MS)).toBeLessThanOrEqual(2 * limits.certificatesPerWeek + 1)
    }),
    { numRuns: atDepth(300, 10) },
  )
})

describe('failures', () => {
  test('pause a name from a minute to half a day, with jitter, and a success ends it', async () => {
    for (const random of [() => 0, () => 0.999999]) {
      await rm(join(directory, 'acme-budget.json'), { force: true })
      const budget = await OrderBudget.open({ directory, rates: AMPLE, log, random })
      let last = 0
      for (let failure = 0; failure < 14; failure++) {
        await budget.take(ROOT)
        await budget.failed(ROOT, new AcmeError('unreachable', 'the directory does not answer'))
        const { message, retryAfterMs } = await errorOf(budget.take(ROOT))
        expect(message).toMatch(
          /the last order failed \(the directory does not answer\); the next one is possible at/,
        )
        expect(retryAfterMs).toBeGreaterThanOrEqual(Math.max(BACKOFF_MIN_MS, last))
        expect(retryAfterMs).toBeLessThanOrEqual(BACKOFF_MAX_MS)
        last = retryAfterMs!
        vi.advanceTimersByTime(last)
      }
      expect(last).toBeGreaterThanOrEqual((BACKOFF_MAX_MS * 3) / 4)
      await budget.take(ROOT)
      await budget.succeeded(ROOT)
      await budget.take(ROOT)
    }
  })

  test('of one name or identity pause no other', async () => {
    const budget = await open(AMPLE)
    await budget.take(site(1))
    await budget.failed(site(1), new Error('no'))
    await budget.take(site(2))
    await budget.take(ROOT)
    const sameIdentity = { ...site(3), identityKey: site(1).identityKey! }
    await expect(budget.take(sameIdentity)).rejects.toThrow('the last order failed')
  })

  test('of a validation never use up what Let’s Encrypt allows: 5 at once, and one in 12 minutes', async () => {
    const budget = await OrderBudget.open({ directory, rates: AMPLE, log, random: () => 0 })
    const error = new AcmeError('validation_failed', 'relay.test resolves to 192.0.2.1')
    let allowed = 5
    let failures = 0
    for (let minute = 0; minute < 24 * 60; minute++) {
      if (await isTaken(budget, ROOT)) {
        await budget.failed(ROOT, error)
        failures += 1
        allowed -= 1
        expect(allowed).toBeGreaterThan(0)
      }
      allowed = Math.min(5, allowed + 1 / 12)
      vi.advanceTimersByTime(60_000)
    }
    expect(failures).toBeGreaterThanOrEqual(8)
  })

  test('honour Retry-After; a limit that one site meets pauses all sites for an hour at most, and never the root host', async () => {
    const budget = await open(AMPLE)
    const order = site(1)
    await budget.take(order)
    await budget.failed(order, new AcmeError('rate_limited', 'too many', { retryAfterMs: 34 * HOUR_MS }))
    expect((await errorOf(budget.take(order))).retryAfterMs).toBe(34 * HOUR_MS)
    const other = await errorOf(budget.take(site(2)))
    expect(other.retryAfterMs).toBe(HOUR_MS)
    await budget.take(ROOT)
    vi.advanceTimersByTime(HOUR_MS)
    await budget.take(site(2))
  })

  test('an aborted order pauses nobody, and its certificate comes back', async () => {
    const budget = await open({ ordersPerHour: 100, certificatesPerWeek: 1 })
    const abort = new AbortController()
    const order = { ...ROOT, signal: abort.signal }
    await budget.take(order)
    await expect(budget.take(ROOT)).rejects.toThrow('ACME_CERTIFICATES_PER_WEEK')
    abort.abort()
    await budget.failed(order, abort.signal.reason)
    await budget.take(ROOT)
  })
})

describe('over a restart', () => {
  test('units and pauses are kept, and time that passed counts', async () => {
    const before = await open(LETS_ENCRYPT)
    await takeWhilePossible(before, 200)
    await before.take(ROOT)
    await before.failed(ROOT, new Error('no'))
    const after = await open(LETS_ENCRYPT)
    expect(await takeWhilePossible(after, 200)).toBe(0)
    expect((await errorOf(after.take(ROOT))).retryAfterMs).toBeGreaterThanOrEqual(
      RESTART_PAUSE_MAX_MS - 1_000,
    )
    vi.advanceTimersByTime(DAY_MS)
    const later = await open(LETS_ENCRYPT)
    await later.take(ROOT)
    expect(await takeWhilePossible(later, 200)).toBeGreaterThanOrEqual(5)
  })

  test('the root host waits a minute at most, since its operator may have removed the reason; sites wait as before', async () => {
    const before = await open(AMPLE)
    const limit = new AcmeError('rate_limited', 'too many', { retryAfterMs: 5 * HOUR_MS })
    for (const order of [ROOT, site(1)]) {
      await before.take(order)
      await before.failed(order, limit)
    }
    const after = await open(AMPLE)
    expect((await errorOf(after.take(ROOT))).retryAfterMs).toBeLessThanOrEqual(RESTART_PAUSE_MAX_MS)
    expect((await errorOf(after.take(site(1)))).retryAfterMs).toBeGreaterThan(4 * HOUR_MS)
    vi.advanceTimersByTime(RESTART_PAUSE_MAX_MS)
    await after.take(ROOT)
  })

  test('a wall clock that was set wrong makes nobody wait longer, in either direction', async () => {
    const begin = Date.now()
    vi.setSystemTime(begin + 365 * DAY_MS)
    const ahead = await open(LETS_ENCRYPT)
    await takeWhilePossible(ahead, 200)
    await ahead.take(ROOT)
    await ahead.failed(ROOT, new Error('no'))
    vi.setSystemTime(begin)
    const corrected = await open(LETS_ENCRYPT)
    expect((await errorOf(corrected.take(ROOT))).retryAfterMs).toBeLessThanOrEqual(RESTART_PAUSE_MAX_MS)
    vi.advanceTimersByTime(RESTART_PAUSE_MAX_MS)
    await corrected.take(ROOT)
    expect(await takeWhilePossible(corrected, 200)).toBe(0)
    vi.setSystemTime(0)
    expect(await takeWhilePossible(corrected, 200)).toBe(0)
  })

  test('a damaged file is named, and stays as it is', async () => {
    const path = join(directory, 'acme-budget.json')
    for (const text of ['', '{', '[]', '{"saved_at":-1}', '{"orders":"many"}']) {
      await writeFile(path, text)
      await expect(open(LETS_ENCRYPT)).rejects.toThrow(`${path}: is damaged`)
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('smaller settings bound what was spent under larger ones', async () => {
    const before = await open(AMPLE)
    for (let index = 0; index < 50; index++) await before.take({ ...ROOT })
    const after = await open({ ordersPerHour: 10, certificatesPerWeek: 7 })
    const { retryAfterMs } = await errorOf(after.take(ROOT))
    expect(retryAfterMs).toBeLessThanOrEqual(DAY_MS)
  })
})

test('no order is made that the relay could not remember', async () => {
  const budget = await OrderBudget.open({ directory: join(directory, 'dir'), rates: LETS_ENCRYPT, log })
  await writeFile(join(directory, 'dir'), 'a file where the directory was')
  const { fault, message, retryAfterMs } = await errorOf(budget.take(ROOT))
  expect({ fault, retryAfterMs }).toEqual({ fault: 'rate_limited', retryAfterMs: BACKOFF_MIN_MS })
  expect(message).toMatch(/the budget cannot be kept: .*acme-budget\.json cannot be written/)
  await budget.failed(ROOT, new Error('no'))
})

test('an order has names, and not too many', async () => {
  const budget = await open(LETS_ENCRYPT)
  const many = Array.from({ length: 101 }, (_, index) => `${index}.test`)
  for (const names of [[], many])
    expect((await errorOf(budget.take({ ...ROOT, names }))).fault).toBe('refused')
})

async function open(rates: BudgetRates): Promise<OrderBudget> {
  return await OrderBudget.open({ directory, rates, log })
}

/** An order of one of many sites, each with an identity of its own. */
function site(index: number): BudgetedOrder {
  return { for: 'site', identityKey: `0x${index}`, names: [`s${index}.relay.test`] }
}

let siteIndex = 10_000

/** How many of this many new sites get an order. */
async function takeWhilePossible(
  budget: OrderBudget,
  crowd: number,
  then: (order: BudgetedOrder) => Promise<void> = (order) => budget.succeeded(order),
  fields: Partial<BudgetedOrder> = {},
): Promise<number> {
  for (let taken = 0; taken < crowd; taken++) {
    const order = { ...site(siteIndex++), ...fields }
    if (!(await isTaken(budget, order))) return taken
    await then(order)
  }
  return crowd
}

async function isTaken(budget: OrderBudget, order: BudgetedOrder): Promise<boolean> {
  try {
    await budget.take(order)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(AcmeError)
    expect((error as AcmeError).fault).toBe('rate_limited')
    return false
  }
}

async function errorOf(promise: Promise<void>): Promise<AcmeError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AcmeError)
  return error as AcmeError
}

/** The most moments that lie within one period. */
function busiest(moments: readonly number[], periodMs: number): number {
  return Math.max(
    0,
    ...moments.map((start) => moments.filter((one) => one >= start && one < start + periodMs).length),
  )
}
