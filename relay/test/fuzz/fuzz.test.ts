// Short slices of the fuzz targets; `npm run fuzz` runs them for as long as one likes.

import { expect, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fuzz as fuzzApi } from './api.ts'
import { fuzz as fuzzDns } from './dns.ts'
import { fuzz as fuzzPages } from './pages.ts'
import { fuzz as fuzzUploads } from './uploads.ts'

/** Another one each day. */
const SEED: number = Math.floor(Date.now() / 86_400_000)

/** There is a round of 100 at least, however slow the machine. */
const RUNS_MIN = 100
const SECONDS: number = atDepth(1.5, 0.3)

test(`bodies for the API, seed ${SEED}`, async () => {
  expect((await fuzzApi(SECONDS, SEED)).runs).toBeGreaterThanOrEqual(RUNS_MIN)
})

test(`requests for the pages, seed ${SEED}`, async () => {
  expect((await fuzzPages(SECONDS, SEED)).runs).toBeGreaterThanOrEqual(RUNS_MIN)
})

test(`queries for the DNS server, seed ${SEED}`, async () => {
  expect((await fuzzDns(SECONDS, SEED)).runs).toBeGreaterThanOrEqual(RUNS_MIN)
})

test(`uploads to the static cache, seed ${SEED}`, async () => {
  expect((await fuzzUploads(SECONDS, SEED)).runs).toBeGreaterThanOrEqual(RUNS_MIN)
})
