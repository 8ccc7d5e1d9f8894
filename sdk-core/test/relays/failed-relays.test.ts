// The SDK remembers relays that failed, for a bounded time.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FailedRelays } from '../../src/relays/failed-relays.ts'
import {
  FAILED_PAUSE_FIRST_MS,
  FAILED_PAUSE_MAX_MS,
  FAILED_RELAYS_MAX,
  FORGIVEN_AFTER_MS,
} from '../../src/relays/limits.ts'

const A = 'https://a.example'
let failed: FailedRelays
beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(1)
  failed = new FailedRelays()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const pauseOf = (origin: string): number => failed.until(origin) - performance.now()

it('each failure makes the pause twice as long, up to a bound', () => {
  const pauses = Array.from({ length: 8 }, () => {
    failed.add(A, 'relay_unreachable', 0)
    return pauseOf(A)
  })
  expect(pauses.slice(0, 3)).toEqual([1, 2, 4].map((factor) => factor * FAILED_PAUSE_FIRST_MS))
  expect(pauses.at(-1)).toBe(FAILED_PAUSE_MAX_MS)
})

it('a long time online makes up for earlier failures', () => {
  for (let failures = 0; failures < 5; failures += 1)
    failed.add(A, 'relay_unreachable', FORGIVEN_AFTER_MS - 1)
  expect(pauseOf(A)).toBeGreaterThan(FAILED_PAUSE_FIRST_MS)
  failed.add(A, 'relay_unreachable', FORGIVEN_AFTER_MS)
  expect(pauseOf(A)).toBe(FAILED_PAUSE_FIRST_MS)
})

it('relays that could not be reached are forgiven together, those that refused are not', () => {
  failed.add(A, 'relay_unreachable', 0)
  failed.add('https://b.example', 'lease_rejected', 0)
  failed.forgiveUnreachable()
  expect(failed.until(A)).toBe(0)
  expect(pauseOf('https://b.example')).toBe(FAILED_PAUSE_FIRST_MS)
})

it('remembers so many, and those that are banned the longest', () => {
  failed.ban(A, 'relay_suspected')
  const origins = Array.from({ length: FAILED_RELAYS_MAX }, (_, at) => `https://r${at}.example`)
  for (const origin of origins) failed.add(origin, 'relay_unreachable', 0)
  expect(failed.until(A)).toBe(Number.POSITIVE_INFINITY)
  expect(failed.until(origins[0]!)).toBe(0)
  expect(pauseOf(origins[1]!)).toBe(FAILED_PAUSE_FIRST_MS)
})
