// A slice of the fuzzing of HTTP/2, the same each time.

import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

const RUNS = 1_500

test('frames in any order, noise for HPACK, and tables of any size', async () => {
  const { runs } = await fuzz((runs) => runs < RUNS, 1)
  expect(runs).toBeGreaterThanOrEqual(RUNS)
})
