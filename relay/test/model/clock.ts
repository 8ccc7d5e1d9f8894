// Time that stands still until a test moves it: `Date`, the monotonic clock and the timers of the parts under test.

import { mock } from 'node:test'

const NS_PER_MS = 1_000_000n

/** The monotonic clock when each history begins, so that it is as far from the wall clock in all of them. */
const START = process.hrtime.bigint()

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  advance(ms: number): void
  restore(): void
}

export function stopClock(now: number): Clock {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now })
  const monotonic = mock.method(process.hrtime, 'bigint', () => START + BigInt(Date.now() - now) * NS_PER_MS)
  return {
    now: () => Date.now(),
    advance: (ms) => mock.timers.tick(ms),
    restore: () => {
      monotonic.mock.restore()
      mock.timers.reset()
    },
  }
}
