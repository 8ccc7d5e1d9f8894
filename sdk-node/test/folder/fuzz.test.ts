// A short slice of the fuzz target; `npm run fuzz -- files 60s` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

const RUNS: number = atDepth(400, 100)

test(`requests for the files of a folder, seed ${TEST_SEED}`, async () => {
  expect((await fuzz((runs) => runs < RUNS, TEST_SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
