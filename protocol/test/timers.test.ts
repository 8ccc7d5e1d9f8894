// Timers by an injected clock: timeouts, aborts and backoff.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Backoff, backoffMs, jittered, pause, untilAborted, withTimeout } from '../src/timers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})

test('withTimeout settles as the promise does, and leaves no timer', async () => {
  const late = (): Error => new Error('late')
  expect(await withTimeout(Promise.resolve(1), 1_000, late)).toBe(1)
  await expect(withTimeout(Promise.reject(new Error('own')), 1_000, late)).rejects.toThrow('own')
  expect(vi.getTimerCount()).toBe(0)
})

test('withTimeout rejects with the error of its caller, and asks for that only then', async () => {
  const onTimeout = vi.fn(() => new Error('late'))
  const result = withTimeout(never, 1_000, onTimeout).catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(999)
  expect(onTimeout).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(await result).toBe('late')
})

test('untilAborted rejects with the reason of the signal, also of one that aborted before', async () => {
  const abort = new AbortController()
  const waiting = untilAborted(never, abort.signal)
  abort.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(untilAborted(Promise.resolve(1), abort.signal)).rejects.toThrow('gone')
})

test('untilAborted settles as the promise does', async () => {
  expect(await untilAborted(Promise.resolve(1), new AbortController().signal)).toBe(1)
  expect(await untilAborted(Promise.resolve(1), undefined)).toBe(1)
})

test('a pause ends in time or with its signal', async () => {
  const abort = new AbortController()
  const ended: string[] = []
  void pause(1_000, new AbortController().signal).then(() => ended.push('in time'))
  void pause(2_000, abort.signal).then(() => ended.push('aborted'))
  await vi.advanceTimersByTimeAsync(1_000)
  abort.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(ended).toEqual(['in time', 'aborted'])
  expect(vi.getTimerCount()).toBe(0)
})

test('backoff doubles up to its most', () => {
  expect([0, 1, 2, 3, 2_000].map((failures) => backoffMs(failures, 100, 500))).toEqual([
    100, 200, 400, 500, 500,
  ])
})

test('a success begins backoff anew', () => {
  const backoff = new Backoff(100, 500)
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([100, 200, 400, 500])
  backoff.reset()
  expect(backoff.next()).toBe(100)
})

test('jitter takes up to half', () => {
  const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5)
  expect([jittered(100), jittered(100)]).toEqual([50, 75])
  random.mockRestore()
})
