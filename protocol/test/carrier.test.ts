// The start of a carrier stream: the capability behind its length.

import { expect, test } from 'vitest'
import { encodeCapability } from '../src/index.ts'

test('2 bytes of length, big-endian, then the text', () => {
  expect([...encodeCapability('abc')]).toEqual([0, 3, 97, 98, 99])
  expect([...encodeCapability('x'.repeat(8192)).subarray(0, 2)]).toEqual([0x20, 0x00])
})

test('empty or longer than 8192 bytes is refused', () => {
  expect(() => encodeCapability('')).toThrow(RangeError)
  expect(() => encodeCapability('x'.repeat(8193))).toThrow(RangeError)
})
