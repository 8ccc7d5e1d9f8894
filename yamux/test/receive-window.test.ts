// The receive window: credit by halves, growth with bandwidth × delay, under a budget.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ReceiveWindow, WindowBudget } from '../src/receive-window.ts'

const KIB = 1024
const INITIAL = 256 * KIB
const MAX = 4096 * KIB

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function windowOf(budget: number): { window: ReceiveWindow; budget: WindowBudget } {
  const shared = new WindowBudget(budget)
  return { window: new ReceiveWindow(INITIAL, MAX, shared), budget: shared }
}

/** A peer that the window holds back: a whole window each round trip, read as it comes. */
function fillForOneRoundTrip(window: ReceiveWindow, rttMs: number): number {
  let credit = 0
  for (let half = 0; half < 2; half++) {
    const bytes = window.size / 2
    window.reserve(bytes)
    vi.advanceTimersByTime(rttMs / 2)
    credit += window.consume(bytes, rttMs)
  }
  return credit
}

test('exactly the window can be reserved', () => {
  const { window } = windowOf(0)
  expect(window.reserve(INITIAL - 1)).toBe(true)
  expect(window.reserve(2)).toBe(false)
  expect(window.reserve(1)).toBe(true)
  expect(window.reserve(1)).toBe(false)
})

test('credit is given when half of the window was read, for all of it', () => {
  const { window } = windowOf(0)
  window.reserve(INITIAL)
  expect(window.consume(INITIAL / 2 - 1, 1)).toBe(0)
  expect(window.consume(10, 1)).toBe(INITIAL / 2 + 9)
  expect(window.consume(1, 1)).toBe(0)
})

describe('growth', () => {
  test('there is none while the memory must not grow', () => {
    const memory = { mayGrow: false }
    const window = new ReceiveWindow(INITIAL, MAX, new WindowBudget(Number.MAX_SAFE_INTEGER, memory))
    fillForOneRoundTrip(window, 100)
    expect(window.size).toBe(INITIAL)
    memory.mayGrow = true
    fillForOneRoundTrip(window, 100)
    expect(window.size).toBeGreaterThan(INITIAL)
  })

  test('a peer that the window holds back gets a larger one, up to the maximum', () => {
    const { window } = windowOf(Number.MAX_SAFE_INTEGER)
    expect(fillForOneRoundTrip(window, 100)).toBeGreaterThan(INITIAL)
    expect(window.size).toBeGreaterThanOrEqual(2 * INITIAL)
    for (let i = 0; i < 10; i++) fillForOneRoundTrip(window, 100)
    expect(window.size).toBe(MAX)
  })

  test('the credit that is given with it can be used', () => {
    const { window } = windowOf(Number.MAX_SAFE_INTEGER)
    fillForOneRoundTrip(window, 100)
    expect(window.reserve(window.size)).toBe(true)
    expect(window.reserve(1)).toBe(false)
  })

  test('a slow peer keeps the initial one', () => {
    const { window } = windowOf(Number.MAX_SAFE_INTEGER)
    for (let i = 0; i < 10; i++) {
      window.reserve(INITIAL / 2)
      vi.advanceTimersByTime(1000)
      expect(window.consume(INITIAL / 2, 10)).toBe(INITIAL / 2)
    }
  })

  test('without a measured round trip there is none', () => {
    const { window } = windowOf(Number.MAX_SAFE_INTEGER)
    window.reserve(INITIAL)
    expect(window.consume(INITIAL, undefined)).toBe(INITIAL)
  })

  test('all windows together stay in the budget, and give it back', () => {
    const { window: first, budget } = windowOf(INITIAL)
    const second = new ReceiveWindow(INITIAL, MAX, budget)
    for (let i = 0; i < 5; i++) fillForOneRoundTrip(first, 100)
    for (let i = 0; i < 5; i++) fillForOneRoundTrip(second, 100)
    expect([first.size, second.size]).toEqual([2 * INITIAL, INITIAL])

    first.release()
    fillForOneRoundTrip(second, 100)
    expect([first.size, second.size]).toEqual([INITIAL, 2 * INITIAL])
  })
})
