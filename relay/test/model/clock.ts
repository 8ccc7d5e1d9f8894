// Time that stands still until a test moves it: `Date` and the timers of the parts under test, nothing else.

import { mock } from 'node:test'

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  advance(ms: number): void
  restore(): void
}

export function stopClock(now: number): Clock {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now })
  return {
    now: () => Date.now(),
    advance: (ms) => mock.timers.tick(ms),
    restore: () => mock.timers.reset(),
  }
}
