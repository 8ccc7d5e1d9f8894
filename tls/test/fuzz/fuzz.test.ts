// A short slice of the fuzz target; `npm run fuzz` runs it for as long as one likes.

import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

test('two seconds of damaged input', async () => {
  expect((await fuzz(2, 20_260_101)).runs).toBeGreaterThan(100)
})
