// A short slice of the fuzz target, from a seed of the day and from a fixed one.

import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

test.each([1, Math.floor(Date.now() / 86_400_000)])('seed %i', async (seed) => {
  expect((await fuzz(0.7, seed)).runs).toBeGreaterThan(5)
})
