// Relay time and the wall clock: one moment always converts to the same time, until somebody sets the wall clock.

import { afterEach, expect, test, vi } from 'vitest'
import { now, toWallTime, wallClockAhead } from '../src/core/clock.ts'

const HOUR_MS = 3_600_000

afterEach(() => {
  vi.restoreAllMocks()
  wallClockAhead()
})

/** Sets the wall clock, which stands still then. */
function setWallClock(aheadMs: number): void {
  vi.spyOn(Date, 'now').mockReturnValue(now() + aheadMs)
}

test('is ahead by as much as it was set, and by nothing when it was set back, rounding included', () => {
  setWallClock(HOUR_MS)
  expect(wallClockAhead()).toBeGreaterThan(HOUR_MS - 1_000)
  setWallClock(3)
  expect(wallClockAhead()).toBe(0)
  expect(toWallTime(1_000)).toBe(1_000)
})

test('a slew is no step', () => {
  setWallClock(0)
  wallClockAhead()
  setWallClock(900)
  expect(wallClockAhead()).toBe(0)
})
