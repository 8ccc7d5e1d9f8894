// When a WebSocket counts as saturated: measured windows of a full buffer, or round trips that grew.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LOAD_RTT_FACTOR, LOAD_RTT_MIN_MS, LOAD_WINDOW_MS, LoadMeter } from '../../src/carrier/load-meter.ts'

let load: LoadMeter
beforeEach(() => {
  vi.useFakeTimers()
  load = new LoadMeter()
})
afterEach(() => vi.useRealTimers())

const pass = (ms: number): unknown => vi.advanceTimersByTime(ms)

it('one that was full for more than half of the window is saturated, until a window in which it was not', () => {
  load.bufferFull()
  pass(LOAD_WINDOW_MS * 0.6)
  load.bufferDrained()
  pass(LOAD_WINDOW_MS * 0.4)
  expect(load.saturated).toBe(false)
  expect(load.measure(undefined)).toBe(true)
  expect(load.saturated).toBe(true)
  load.bufferFull()
  pass(LOAD_WINDOW_MS * 0.4)
  load.bufferDrained()
  pass(LOAD_WINDOW_MS * 0.6)
  load.measure(undefined)
  expect(load.saturated).toBe(false)
})

it('one that stays full counts for its part of each window', () => {
  load.bufferFull()
  for (const expected of [true, true]) {
    pass(LOAD_WINDOW_MS)
    load.measure(undefined)
    expect(load.saturated).toBe(expected)
  }
  pass(LOAD_WINDOW_MS * 0.2)
  load.bufferDrained()
  pass(LOAD_WINDOW_MS)
  load.measure(undefined)
  expect(load.saturated).toBe(false)
})

it('a window is measured whole', () => {
  load.bufferFull()
  pass(LOAD_WINDOW_MS - 1)
  expect(load.measure(undefined)).toBe(false)
  expect(load.saturated).toBe(false)
})

it('two round trips in a row that are far above the least are saturation, one is not, and short ones never', () => {
  const least = LOAD_RTT_MIN_MS / 2
  const high = LOAD_RTT_FACTOR * least + 1
  const seen = [least, high, least, high, high, least].map((rtt) => {
    pass(LOAD_WINDOW_MS)
    load.measure(rtt)
    return load.saturated
  })
  expect(seen).toEqual([false, false, false, false, true, false])
  const quick = new LoadMeter()
  for (const rtt of [1, LOAD_RTT_MIN_MS, LOAD_RTT_MIN_MS]) {
    pass(LOAD_WINDOW_MS)
    quick.measure(rtt)
    expect(quick.saturated).toBe(false)
  }
})
