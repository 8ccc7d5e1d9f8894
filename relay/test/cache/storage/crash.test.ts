// Uploads against `kill -9`; `npm run crash` does the same two hundred times.

import { test as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { crashCache } from '../../support/cache-crash.ts'

const test = wholeOnly(every, 'faults')

const CRASHES: number = atDepth(25, 4)

test('a crash during uploads leaves each snapshot whole or absent, and loses none that was published', {
  timeout: 180_000,
}, async () => {
  const { published, cut } = await crashCache(CRASHES)
  expect(published).toBeGreaterThanOrEqual(Math.floor(CRASHES / 2))
  expect(cut).toBeGreaterThan(0)
})
