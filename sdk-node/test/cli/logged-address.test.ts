// How much of a visitor's address the output has.

import { expect, test } from 'vitest'
import { addressFor } from '../../src/cli/report/logged-address.ts'

test.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::6', '2001:db8::/48'],
  ['2001::6', '2001::/48'],
  ['::1', '::/48'],
  ['::a:b:c:d:e:f', '0:0:a::/48'],
])('%s is shortened to %s, unless all or nothing of it is wanted', (address, short) => {
  const remote = { address, port: 1, reportedBy: 'relay' } as const
  expect(addressFor('short', remote)).toBe(short)
  expect(addressFor('full', remote)).toBe(address)
  expect(addressFor('off', remote)).toBeUndefined()
  expect(addressFor('full', undefined)).toBeUndefined()
})
