// What an authority limits is counted by its times, and never for longer than its window.

import { expect, it } from 'vitest'
import { spend, timesOf, waitMs } from '../../src/acme/published-limits.ts'

const LIMIT = { max: 3, windowMs: 1000, what: 'orders' }

it('allows as many as the limit within any window', () => {
  let spent: number[] = []
  for (const now of [0, 100, 900]) {
    expect(waitMs(LIMIT, spent, now)).toBe(0)
    spent = spend(LIMIT, spent, now)
  }
  expect(waitMs(LIMIT, spent, 900)).toBe(100)
  expect(waitMs(LIMIT, spent, 1000)).toBe(0)
  spent = spend(LIMIT, spent, 1000)
  expect(waitMs(LIMIT, spent, 1000)).toBe(100)
})

it('does not count what a clock that was set back makes come later', () => {
  expect(waitMs(LIMIT, [5000, 5001, 5002], 100)).toBe(0)
})

it('reads damaged lists as empty', () => {
  expect([timesOf('x'), timesOf([1, 'x', Number.NaN, null, 2]), timesOf(undefined)]).toEqual([[], [1, 2], []])
})
