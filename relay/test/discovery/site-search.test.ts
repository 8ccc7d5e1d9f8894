// Searches for a site at other relays: how many are asked, which of them, and what a crowd of visitors costs.

import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  DISCOVERY_LIMITS,
  SITE_QUESTIONS_MAX,
  SITE_QUESTIONS_PARALLEL_MAX,
  SITE_SEARCHES_PARALLEL_MAX,
  SITES_REMEMBERED_MAX,
  UNKNOWN_SITE_SEARCHES_PARALLEL_MAX,
} from '../../src/features/discovery/limits.ts'
import { SiteSearch } from '../../src/features/discovery/site-search.ts'

let time = 0
vi.mock('../../src/core/clock.ts', () => ({ now: () => time }))

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://r${index}.example`)

let origins: string[]
/** The relay that has each site. */
let homes: Map<string, string>
let asked: string[]
let atOnce: number
let most: number
let search: SiteSearch
beforeEach(() => {
  time = 0
  homes = new Map()
  asked = []
  atOnce = 0
  most = 0
  search = new SiteSearch({
    origins: () => origins,
    hasSite: async (origin, label) => {
      asked.push(origin)
      atOnce += 1
      most = Math.max(most, atOnce)
      await new Promise(setImmediate)
      atOnce -= 1
      if (origin.includes('dead')) throw new Error('nobody answers')
      return homes.get(label) === origin
    },
  })
})

/** Looks for a site when the last result of it does not hold any more. */
async function again(label = 'site'): Promise<string | undefined> {
  time += DISCOVERY_LIMITS.siteResultMs
  asked = []
  return (await search.find(label)).origin
}

test('finds the relay that has the site, whatever others do', async () => {
  origins = ['https://dead.example', 'https://r1.example', 'https://r2.example']
  homes.set('site', 'https://r2.example')
  expect(await search.find('site')).toEqual({ origin: 'https://r2.example', asked: 3, known: 3 })
})

test('a relay that knows no other one asks nobody', async () => {
  origins = []
  expect(await search.find('site')).toEqual({ origin: undefined, asked: 0, known: 0 })
})

test('a relay at an IP address has no sites and is not asked', async () => {
  origins = ['https://192.0.2.1', 'https://[2001:db8::1]:8443']
  expect(await search.find('site')).toMatchObject({ asked: 0, known: 0 })
  expect(asked).toEqual([])
})

describe('one of 1,024 relays', () => {
  beforeEach(() => {
    origins = names(1024)
  })

  test('costs 16 questions, 8 at once', async () => {
    expect(await search.find('site')).toEqual({ origin: undefined, asked: 16, known: 1024 })
    expect(asked).toHaveLength(SITE_QUESTIONS_MAX)
    expect(most).toBe(SITE_QUESTIONS_PARALLEL_MAX)
  })

  test('is found by the searches that follow, each of which asks the next ones', async () => {
    const all = new Set<string>()
    for (let round = 0; round < 1024 / SITE_QUESTIONS_MAX; round++) {
      await again()
      for (const origin of asked) all.add(origin)
    }
    expect(all.size).toBe(1024)
  })

  test('is asked first when the site was there last, and the others when it left', async () => {
    homes.set('site', 'https://r7.example')
    let found: string | undefined
    while (found === undefined) found = await again()
    expect(await again()).toBe('https://r7.example')
    expect(asked[0]).toBe('https://r7.example')
    homes.delete('site')
    const all = new Set<string>()
    for (let round = 0; round < 2 + 1024 / (SITE_QUESTIONS_MAX - 1); round++) {
      await again()
      expect(asked[0]).toBe('https://r7.example')
      for (const origin of asked) all.add(origin)
    }
    expect(all.size).toBe(1024)
  })
})

describe('a crowd', () => {
  beforeEach(() => {
    origins = names(3)
  })

  test('of visitors of one site costs one search in 5 s', async () => {
    await Promise.all(Array.from({ length: 1000 }, () => search.find('site')))
    time += DISCOVERY_LIMITS.siteResultMs - 1
    await search.find('site')
    expect(asked).toHaveLength(3)
    time += 1
    await search.find('site')
    expect(asked).toHaveLength(6)
  })

  test('of sites has 8 searches at once, 2 of them for sites that were found before, and others are put off', async () => {
    const found = Array.from({ length: 3 }, (_, index) => `found${index}`)
    for (const label of found) {
      homes.set(label, 'https://r1.example')
      await search.find(label)
    }
    time += DISCOVERY_LIMITS.siteResultMs
    const busy = expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '2' } })
    const unknown = UNKNOWN_SITE_SEARCHES_PARALLEL_MAX
    const running = Array.from({ length: unknown }, (_, index) => search.find(`s${index}`))
    const onBegin = vi.fn()
    expect(() => search.find('one more', onBegin)).toThrow(busy)
    expect(onBegin).not.toHaveBeenCalled()
    for (const label of found.slice(0, SITE_SEARCHES_PARALLEL_MAX - unknown))
      running.push(search.find(label, onBegin))
    expect(onBegin.mock.calls).toEqual([[true], [true]])
    expect(() => search.find('found2')).toThrow(busy)
    await Promise.all(running)
    await expect(search.find('one more')).resolves.toBeDefined()
  })

  test('of 2,000 sites leaves the last 1,024 in memory', async () => {
    homes.set('home', 'https://r1.example')
    await search.find('home')
    for (let index = 0; index < 2 * SITES_REMEMBERED_MAX; index++) await search.find(`s${index}`)
    const onBegin = vi.fn()
    for (let index = SITES_REMEMBERED_MAX; index < 2 * SITES_REMEMBERED_MAX; index++)
      await search.find(`s${index}`, onBegin)
    expect(onBegin).not.toHaveBeenCalled()
    await search.find(`s${SITES_REMEMBERED_MAX - 1}`, onBegin)
    // Invented sites displace no site that was found.
    await search.find('home', onBegin)
    expect(onBegin.mock.calls).toEqual([[false], [true]])
  })
})

test('ends the other questions when one relay has the site', async () => {
  const signals: AbortSignal[] = []
  const ending = new SiteSearch({
    origins: () => names(8),
    hasSite: (origin, _label, signal) => {
      signals.push(signal)
      if (origin === 'https://r3.example') return Promise.resolve(true)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
    },
  })
  expect((await ending.find('site')).origin).toBe('https://r3.example')
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
})
