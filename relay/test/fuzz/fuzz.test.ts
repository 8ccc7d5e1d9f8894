// Short slices of the fuzz targets; `npm run fuzz` runs them for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { fuzz as fuzzApi } from './api.ts'
import { fuzz as fuzzPages } from './pages.ts'
import { fuzz as fuzzUploads } from './uploads.ts'

const RUNS: number = atDepth(1000, 100)
const isUnder = (runs: number): boolean => runs < RUNS

test(`bodies for the API, seed ${TEST_SEED}`, async () => {
  expect((await fuzzApi(isUnder, TEST_SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})

test(`requests for the pages, seed ${TEST_SEED}`, async () => {
  expect((await fuzzPages(isUnder, TEST_SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})

test(`uploads to the static cache, seed ${TEST_SEED}`, async () => {
  expect((await fuzzUploads(isUnder, TEST_SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
