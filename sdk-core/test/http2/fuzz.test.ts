// A slice of the fuzzing of HTTP/2, the same each time.

import { expect, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

const RUNS: number = atDepth(1_500, 300)

test('frames in any order, noise for HPACK, and tables of any size', async () => {
  const { runs } = await fuzz((runs) => runs < RUNS, 1)
  expect(runs).toBeGreaterThanOrEqual(RUNS)
})
