// Addresses of peers: public ones alone, a few names at once, and again after a while.

import type { LookupFunction } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Endpoints } from '../../src/features/overlay/wireguard/endpoints.ts'
import {
  RESOLVE_AGAIN_MS,
  RESOLVE_DEADLINE_MS,
  RESOLVE_FAILED_AGAIN_MS,
  RESOLVE_PARALLEL_MAX,
} from '../../src/features/overlay/wireguard/limits.ts'

type Callback = (error: Error | null, found: { address: string; family: number }[]) => void

/** Name lookups that the test answers. */
let asked: { name: string; answer: (...addresses: string[]) => void; fail: () => void }[]
let changes: number

const lookup = ((name: string, _options: object, callback: Callback) => {
  asked.push({
    name,
    answer: (...addresses) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      ),
    fail: () => callback(new Error('ENOTFOUND'), []),
  })
}) as unknown as LookupFunction

const start = (allowsLoopback = false): Endpoints =>
  new Endpoints({ allowsLoopback, lookup, onChange: () => void changes++ })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['hrtime'] })
  asked = []
  changes = 0
})

afterEach(() => void vi.useRealTimers())

test('addresses that are not public are none', async () => {
  const endpoints = start()
  expect(endpoints.addressesOf('https://a.example')).toEqual([])
  asked[0]!.answer(
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'fd9c:6cc0:2f1f::1',
    '8.8.8.8',
    '::ffff:9.9.9.9',
  )
  await vi.waitFor(() => expect(endpoints.addressesOf('https://a.example')).toEqual(['8.8.8.8', '9.9.9.9']))
  expect(changes).toBe(1)
  expect(endpoints.addressesOf('https://10.1.2.3')).toEqual([])
  expect(endpoints.addressesOf('https://[::1]:8443')).toEqual([])
  await new Promise(setImmediate)
  expect(endpoints.addressesOf('https://10.1.2.3')).toEqual([])
  expect(endpoints.addressesOf('https://[::1]:8443')).toEqual([])
  expect(asked).toHaveLength(1)
})

test('tests may have others', async () => {
  const endpoints = start(true)
  endpoints.addressesOf('https://a.localhost')
  asked[0]!.answer('127.0.0.1')
  await vi.waitFor(() => expect(endpoints.addressesOf('https://a.localhost')).toEqual(['127.0.0.1']))
})

test('a few names are resolved at once, each again after a while, and a failure keeps what was known', async () => {
  const endpoints = start()
  const origins = Array.from({ length: RESOLVE_PARALLEL_MAX + 3 }, (_, index) => `https://r${index}.example`)
  for (const origin of origins) endpoints.addressesOf(origin)
  for (let answered = 0; answered < origins.length; answered++) {
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(answered))
    expect(asked.length - answered).toBeLessThanOrEqual(RESOLVE_PARALLEL_MAX)
    asked[answered]!.answer('8.8.8.8')
  }
  await vi.waitFor(() => expect(changes).toBe(origins.length))
  // vi.waitFor has advanced the clock, too.
  vi.advanceTimersByTime(RESOLVE_AGAIN_MS / 2)
  endpoints.addressesOf(origins[0]!)
  expect(asked).toHaveLength(origins.length)
  vi.advanceTimersByTime(RESOLVE_AGAIN_MS / 2)
  expect(endpoints.addressesOf(origins[0]!)).toEqual(['8.8.8.8'])
  asked.at(-1)!.fail()
  await new Promise(setImmediate)
  expect(endpoints.addressesOf(origins[0]!)).toEqual(['8.8.8.8'])
  expect([asked.length, changes]).toEqual([origins.length + 1, origins.length])
})

test('a name without an answer is asked for soon, and then later and later', async () => {
  const endpoints = start()
  const origin = 'https://a.example'
  endpoints.addressesOf(origin)
  const pauses = [RESOLVE_FAILED_AGAIN_MS, 2 * RESOLVE_FAILED_AGAIN_MS, 4 * RESOLVE_FAILED_AGAIN_MS]
  for (const [index, pause] of pauses.entries()) {
    expect(asked).toHaveLength(index + 1)
    asked[index]!.fail()
    await new Promise(setImmediate)
    vi.advanceTimersByTime(pause - 1)
    endpoints.addressesOf(origin)
    expect(asked).toHaveLength(index + 1)
    vi.advanceTimersByTime(1)
    endpoints.addressesOf(origin)
  }
  asked.at(-1)!.answer('8.8.8.8')
  await new Promise(setImmediate)
  vi.advanceTimersByTime(RESOLVE_AGAIN_MS - 1)
  expect(endpoints.addressesOf(origin)).toEqual(['8.8.8.8'])
  expect(asked).toHaveLength(pauses.length + 1)
})

test('a name server that never answers makes room for the next names', async () => {
  vi.useFakeTimers({ toFake: ['hrtime', 'setTimeout', 'clearTimeout'] })
  const endpoints = start()
  for (let index = 0; index <= RESOLVE_PARALLEL_MAX; index++)
    endpoints.addressesOf(`https://silent${index}.example`)
  expect(asked).toHaveLength(RESOLVE_PARALLEL_MAX)
  await vi.advanceTimersByTimeAsync(RESOLVE_DEADLINE_MS)
  expect(asked).toHaveLength(RESOLVE_PARALLEL_MAX + 1)
})

test('a relay that is gone is forgotten, with what was asked for it', async () => {
  const endpoints = start()
  endpoints.addressesOf('https://a.example')
  endpoints.keep(new Set())
  asked[0]!.answer('8.8.8.8')
  await new Promise(setImmediate)
  expect(changes).toBe(0)
  expect(endpoints.addressesOf('https://a.example')).toEqual([])
  expect(asked).toHaveLength(2)
})
