// The largest DATAGRAM of a path: what QUIC found out, never less than what every path carries.

import { afterEach, expect, test, vi } from 'vitest'
import { maxDatagramSizeOf } from '../src/index.ts'

afterEach(() => void vi.useRealTimers())

test('a packet that passes, less what else is in it; 1150 bytes at least, also where nothing is known', () => {
  for (const [metrics, bytes] of [
    [null, 1150],
    [{}, 1150],
    [{ pmtu: 1200 }, 1150],
    [{ pmtu: 1452 }, 1402],
  ] as const)
    expect(maxDatagramSizeOf({ getMetrics: () => metrics })()).toBe(bytes)
})

test('the connection is asked again after a quarter of a second, not at each DATAGRAM', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let pmtu = 1200
  const getMetrics = vi.fn(() => ({ pmtu }))
  const size = maxDatagramSizeOf({ getMetrics })
  expect(size()).toBe(1150)
  pmtu = 1452
  vi.advanceTimersByTime(250)
  expect(size()).toBe(1150)
  vi.advanceTimersByTime(1)
  expect(size()).toBe(1402)
  expect(getMetrics).toHaveBeenCalledTimes(2)
})
