// Durability against `kill -9`; `npm run crash` does the same two hundred times.

import { test as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { crash } from '../support/crash.ts'

const test = wholeOnly(every, 'faults')

const CRASHES: number = atDepth(25, 4)

test('a crash while policy and reservations are written loses nothing that was promised', {
  timeout: 180_000,
}, async () => {
  const { kept } = await crash(CRASHES)
  expect(kept).toBeGreaterThanOrEqual(Math.floor(CRASHES / 2))
})
