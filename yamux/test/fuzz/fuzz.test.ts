// A short slice of the fuzz target; `npm run fuzz` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

const RUNS: number = atDepth(600, 30)

test(`${RUNS} damaged inputs, seed ${TEST_SEED}`, async () => {
  expect(await fuzz((runs) => runs < RUNS, TEST_SEED)).toEqual({ runs: RUNS })
})
