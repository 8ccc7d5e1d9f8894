// Payments against `kill -9`; `npm run crash` does the same two hundred times.

import { test as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { crashPayments } from '../support/payment-crash.ts'

const test = wholeOnly(every, 'faults')

const CRASHES: number = atDepth(20, 2)

test('a crash between verify and settle moves money once at most, and loses no answer', {
  timeout: 180_000,
}, async () => {
  const { answered } = await crashPayments(CRASHES)
  expect(answered).toBeGreaterThanOrEqual(Math.floor(CRASHES / 2))
})
