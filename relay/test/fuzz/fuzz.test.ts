// Short slices of the fuzz targets; `npm run fuzz` runs them for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fuzz as fuzzApi } from './api.ts'
import { fuzz as fuzzDns } from './dns.ts'
import { fuzz as fuzzPages } from './pages.ts'
import { fuzz as fuzzUploads } from './uploads.ts'

/** Another one each day. */
const SEED: number = Math.floor(Date.now() / 86_400_000)

const RUNS: number = atDepth(1000, 100)
const isUnder = (runs: number): boolean => runs < RUNS

test(`bodies for the API, seed ${SEED}`, async () => {
  expect((await fuzzApi(isUnder, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})

test(`requests for the pages, seed ${SEED}`, async () => {
  expect((await fuzzPages(isUnder, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})

test(`queries for the DNS server, seed ${SEED}`, async () => {
  expect((await fuzzDns(isUnder, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})

test(`uploads to the static cache, seed ${SEED}`, async () => {
  expect((await fuzzUploads(isUnder, SEED)).runs).toBeGreaterThanOrEqual(RUNS)
})
