// A short slice of the fuzz target; `npm run fuzz -- files 60s` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fuzz } from './fuzz.ts'

/** Another one each day. */
const SEED: number = Math.floor(Date.now() / 86_400_000)
const RUNS: number = atDepth(400, 100)

test(`requests for the files of a folder, seed ${SEED}`, async () => {
  expect((await fuzz((runs) => runs < RUNS, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
