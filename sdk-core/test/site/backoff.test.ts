// Pauses between attempts: their growth, their bounds, and what cuts them short.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS, Backoff, LOSS_SPREAD_MS } from '../../src/site/backoff.ts'

const never = new AbortController().signal

describe('next', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each([
    [0, 0.5],
    [0.5, 0.75],
    [1, 1],
  ])('grows by half up to the limit; with random %f it is %f of the step', (random, share) => {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const backoff = new Backoff()
    const steps = Array.from({ length: 2000 }, () => backoff.next() / share)
    expect(steps.slice(0, 4)).toEqual([1, 1.5, 2.25, 3.375].map((factor) => factor * BACKOFF_FIRST_MS))
    expect(Math.max(...steps)).toBe(BACKOFF_MAX_MS)
    expect(steps.at(-1)).toBe(BACKOFF_MAX_MS)
  })

  it('starts again after reset', () => {
    const backoff = new Backoff()
    for (let i = 0; i < 9; i++) backoff.next()
    backoff.reset()
    expect(backoff.next()).toBeLessThanOrEqual(BACKOFF_FIRST_MS)
  })
})

describe('afterLoss', () => {
  it('brings 10,000 sites that lost one machine back one after another, each in time for more attempts', () => {
    const pauses = Array.from({ length: 10_000 }, () => new Backoff().afterLoss())
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(BACKOFF_FIRST_MS / 2)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(BACKOFF_FIRST_MS + LOSS_SPREAD_MS)
    for (let from = 0; from < 1_000; from += 50)
      expect(pauses.filter((pause) => pause >= from && pause < from + 50).length).toBeLessThan(1_000)
  })

  it('grows like any other pause where a site is lost again and again', () => {
    const backoff = new Backoff()
    for (let i = 0; i < 20; i++) backoff.afterLoss()
    expect(backoff.next()).toBeGreaterThanOrEqual(BACKOFF_MAX_MS / 2)
  })
})

describe('pause', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  it('lasts as long as told', async () => {
    const done = vi.fn()
    new Backoff().pause(1000, never).then(done)
    await vi.advanceTimersByTimeAsync(999)
    expect(done).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(done).toHaveBeenCalled()
  })

  it('ends at once when woken or aborted, and leaves no timer', async () => {
    const backoff = new Backoff()
    const woken = backoff.pause(1e6, never)
    backoff.wake()
    await woken
    const controller = new AbortController()
    const aborted = backoff.pause(1e6, controller.signal)
    controller.abort()
    await aborted
    await backoff.pause(1e6, controller.signal)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not cut short when the relay asked for it', async () => {
    const backoff = new Backoff()
    const done = vi.fn()
    backoff.pause(1000, never, true).then(done)
    backoff.wake()
    await vi.advanceTimersByTimeAsync(999)
    expect(done).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(done).toHaveBeenCalled()
  })
})
