// Short slices of the fuzz targets; `npm run fuzz` runs them for as long as one likes.

import { expect, test } from 'vitest'
import { fuzz as fuzzApi } from './api.ts'
import { fuzz as fuzzPages } from './pages.ts'

/** Another one each day. */
const SEED: number = Math.floor(Date.now() / 86_400_000)

test(`bodies for the API, seed ${SEED}`, async () => {
  expect((await fuzzApi(1.5, SEED)).runs).toBeGreaterThan(100)
})

test(`requests for the pages, seed ${SEED}`, async () => {
  expect((await fuzzPages(1.5, SEED)).runs).toBeGreaterThan(100)
})
