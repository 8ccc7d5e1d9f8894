// A short slice of the fuzz target; `npm run fuzz` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

const RUNS: number = atDepth(1_500, 300)

test('frames in any order, noise for HPACK, and tables of any size', async () => {
  const { runs } = await fuzz((runs) => runs < RUNS, TEST_SEED)
  expect(runs).toBeGreaterThanOrEqual(RUNS)
})
