// The watch for silence on three clocks: a visible page's, a hidden page's, and that of a machine that sleeps.

import { YamuxError } from '@svc/yamux'
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { PING_DEADLINE_MS, SILENCE_MAX_MS, WATCH_RENEW_MS, Watchdog } from '../../src/carrier/watchdog.ts'

let alive: boolean
let pings: number
let dead: Mock<(cause: unknown) => void>
let watchdog: Watchdog

beforeEach(() => {
  vi.useFakeTimers()
  alive = true
  pings = 0
  dead = vi.fn()
})
afterEach(() => {
  watchdog.stop()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** As a session's: answered in a network event of its own, or rejected after the deadline. */
function ping(): Promise<number> {
  pings += 1
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new YamuxError('ping_timeout', 'late'))
    const deadline = setTimeout(late, PING_DEADLINE_MS)
    if (!alive) return
    clearTimeout(deadline)
    watchdog.onActivity()
    resolve(1)
  })
}

const watch = (): void => {
  watchdog = new Watchdog(ping, dead)
}

describe('a visible page', () => {
  it('asks only after silence, and takes any answer for life (protocol §7.6.7)', async () => {
    watch()
    for (let heard = 0; heard < 20; heard++) {
      await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS - WATCH_RENEW_MS)
      watchdog.onActivity()
    }
    expect(pings).toBe(0)
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS)
    expect(pings).toBe(1)
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS * 5)
    expect(dead).not.toHaveBeenCalled()
  })

  it('finds a silent network within 16 s', async () => {
    watch()
    alive = false
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS + PING_DEADLINE_MS - 1)
    expect(dead).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(dead).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'ping_timeout' }))
  })

  it('does not give up a relay whose answer is stuck behind bulk data', async () => {
    watch()
    alive = false
    watchdog.probe()
    await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS - 1)
    watchdog.onActivity()
    await vi.advanceTimersByTimeAsync(1)
    expect(dead).not.toHaveBeenCalled()
  })

  it('gives a ping that somebody else had sent a successor', async () => {
    watch()
    alive = false
    let theirs = Promise.withResolvers<number>()
    const shared = new Watchdog(() => (pings++ === 0 ? theirs.promise : ping()), dead)
    shared.probe()
    await vi.advanceTimersByTimeAsync(10)
    theirs.reject(new YamuxError('ping_timeout', 'late'))
    theirs = Promise.withResolvers()
    await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS - 1)
    expect(dead).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(dead).toHaveBeenCalledOnce()
    shared.stop()
  })
})

/**
 * Chromium's throttling of pages that are hidden for long: a timer that timers have set five deep waits for the whole
 * minute, any other for the whole second. Network events start it again.
 */
function throttle(): void {
  const set = globalThis.setTimeout
  let depth = 0
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    const own = depth + 1
    const grid = own >= 5 ? 60_000 : 1_000
    const due = Math.ceil((Date.now() + ms) / grid) * grid
    return set(() => {
      depth = own
      run()
      depth = 0
    }, due - Date.now())
  })
}

describe('a hidden page', () => {
  it('finds a silent network in less than 20 s all the same, after any history', async () => {
    throttle()
    watch()
    for (let heard = 0; heard < 40; heard++) {
      // keepalives of two streams, and a pause that needs a ping, in turn
      await vi.advanceTimersByTimeAsync(heard % 3 === 0 ? 14_900 : 7_300)
      watchdog.onActivity()
    }
    alive = false
    const from = Date.now()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(dead).toHaveBeenCalledOnce()
    expect(Date.now() - from).toBe(20_000)
  })
})

describe('a machine that slept', () => {
  /** Time passes, and nothing runs. */
  const sleep = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

  it('asks again when the deadline of a ping was slept through', async () => {
    watch()
    alive = false
    watchdog.probe()
    await vi.advanceTimersByTimeAsync(1_000)
    sleep(3_600_000)
    alive = true
    await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS)
    expect(pings).toBe(2)
    expect(dead).not.toHaveBeenCalled()
  })

  it('gives up at once when the new one is not answered in its time either', async () => {
    watch()
    alive = false
    watchdog.probe()
    await vi.advanceTimersByTimeAsync(1_000)
    sleep(3_600_000)
    await vi.advanceTimersByTimeAsync(2 * PING_DEADLINE_MS)
    expect(dead).toHaveBeenCalledOnce()
  })
})

describe('a clock that is set back while the page is up', () => {
  it('does not keep silence from being noticed', async () => {
    watch()
    await vi.advanceTimersByTimeAsync(WATCH_RENEW_MS)
    watchdog.onActivity()
    vi.setSystemTime(Date.now() - 86_400_000)
    for (let heard = 0; heard < 3; heard++) {
      await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS)
      watchdog.onActivity()
    }
    alive = false
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS + PING_DEADLINE_MS)
    expect(dead).toHaveBeenCalledOnce()
  })
})

it('says nothing once stopped, and leaves no timer', async () => {
  watch()
  alive = false
  watchdog.probe()
  watchdog.stop()
  await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS)
  watchdog.onActivity()
  expect(dead).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
