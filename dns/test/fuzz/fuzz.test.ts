// A short slice of the fuzz target; `npm run fuzz` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { fuzz } from './dns.ts'

const RUNS: number = atDepth(1000, 100)

test(`queries for the DNS server, seed ${TEST_SEED}`, async () => {
  expect((await fuzz((runs) => runs < RUNS, TEST_SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
