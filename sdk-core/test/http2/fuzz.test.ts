// A slice of the fuzzing of HTTP/2, the same each time.

import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

test('frames in any order, noise for HPACK, and tables of any size', async () => {
  const { runs } = await fuzz(1.5, 1)
  expect(runs).toBeGreaterThan(100)
})
