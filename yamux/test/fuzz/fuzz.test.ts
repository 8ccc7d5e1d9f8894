// A short slice of the fuzz target, from a seed of the day and from a fixed one.

import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

const RUNS = 60

test.each([1, Math.floor(Date.now() / 86_400_000)])('seed %i', async (seed) => {
  expect(await fuzz((runs) => runs < RUNS, seed)).toEqual({ runs: RUNS })
})
