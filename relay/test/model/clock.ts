// Time that stands still until a test moves it: `Date`, the monotonic clock and the timers of the parts under test.

import { mock } from 'node:test'
import { clockOrigin, setClockOrigin } from '../../src/core/clock.ts'

const NS_PER_MS = 1_000_000n

/** The monotonic clock when each history begins, in nanoseconds: whole milliseconds, so that no sum of times is rounded. */
const START = (process.hrtime.bigint() / NS_PER_MS) * NS_PER_MS

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  advance(ms: number): void
  restore(): void
}

/** Relay time is the wall clock's, so that both have their seconds at the same moments: tokens end with a second. */
export function stopClock(now: number): Clock {
  const origin = clockOrigin()
  setClockOrigin(now - Number(START / NS_PER_MS))
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now })
  const monotonic = mock.method(process.hrtime, 'bigint', () => START + BigInt(Date.now() - now) * NS_PER_MS)
  return {
    now: () => Date.now(),
    advance: (ms) => mock.timers.tick(ms),
    restore: () => {
      monotonic.mock.restore()
      mock.timers.reset()
      setClockOrigin(origin)
    },
  }
}
