// The relay's time: told by dates or by leases, and kept whatever happens to the clock of this machine.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RelayClock } from '../../src/control/relay-clock.ts'

/** A relay's time, and that of a machine which is a day ahead. */
const THERE = Date.parse('2027-03-04T05:06:07Z')
const DAY_MS = 86_400_000
const HERE = THERE + DAY_MS

let clock: RelayClock
beforeEach(() => {
  vi.useFakeTimers({ now: HERE })
  clock = new RelayClock()
})
afterEach(() => vi.useRealTimers())

it("is this machine's until an answer tells", () => {
  expect(clock.now).toBe(HERE)
  for (const useless of [null, '', 'soon']) clock.dated(useless)
  expect(clock.now).toBe(HERE)
})

it.each([
  ['a date', () => clock.dated('Thu, 04 Mar 2027 05:06:07 GMT')],
  ['a lease', () => clock.granted(THERE)],
])('is told by %s, and goes on', (_, tell) => {
  tell()
  expect(clock.now).toBe(THERE)
  vi.advanceTimersByTime(60_000)
  expect(clock.now).toBe(THERE + 60_000)
})

it.each([DAY_MS, -DAY_MS])('stays what it is when the clock of this machine is set by %i ms', (ms) => {
  clock.granted(THERE)
  vi.setSystemTime(HERE + ms)
  expect(clock.now).toBe(THERE)
})

it('is told by dates where there are any: a lease may have been granted for another time than was asked for', () => {
  clock.dated('Thu, 04 Mar 2027 05:06:07 GMT')
  clock.granted(THERE - 600_000)
  expect(clock.now).toBe(THERE)
  clock.dated('Thu, 04 Mar 2027 05:06:09 GMT')
  expect(clock.now).toBe(THERE + 2_000)
})
