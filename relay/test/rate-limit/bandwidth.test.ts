// Tests the bandwidth of an identity: its connections and directions share it fairly.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Bandwidth } from '../../src/core/rate-limit/bandwidth.ts'

describe('Bandwidth', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('0 is unlimited', () => {
    const bandwidth = new Bandwidth(() => 0)
    for (let i = 0; i < 100; i++) expect(bandwidth.spend(1e9)).toBe(0)
  })

  test('a second may be saved up, then bytes take their time', () => {
    vi.advanceTimersByTime(10_000)
    const bandwidth = new Bandwidth(() => 1000)
    expect(bandwidth.spend(1000)).toBe(0)
    expect(bandwidth.spend(500)).toBe(500)
    vi.advanceTimersByTime(500)
    expect(bandwidth.spend(250)).toBe(250)
    vi.advanceTimersByTime(60_000)
    expect(bandwidth.spend(1000)).toBe(0)
    expect(bandwidth.spend(1)).toBe(1)
  })

  test('turns are taken in order: two senders of equal chunks wait for one another', () => {
    vi.advanceTimersByTime(10_000)
    const bandwidth = new Bandwidth(() => 1000)
    bandwidth.spend(1000)
    expect([1, 2, 3, 4].map(() => bandwidth.spend(100))).toEqual([100, 200, 300, 400])
  })

  test('a new limit holds at once', () => {
    let rate = 0
    const bandwidth = new Bandwidth(() => rate)
    bandwidth.spend(1e9)
    rate = 1000
    expect(bandwidth.spend(2000)).toBeGreaterThan(900)
  })
})
