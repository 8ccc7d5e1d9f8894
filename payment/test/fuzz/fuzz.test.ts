// A short slice of the fuzz target; `npm run fuzz -- payments 60s` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

/** Another one each day. */
const SEED: number = Math.floor(Date.now() / 86_400_000)
const RUNS: number = atDepth(5_000, 500)

test(`requests and transactions of payments, seed ${SEED}`, async () => {
  expect((await fuzz((runs) => runs < RUNS, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
