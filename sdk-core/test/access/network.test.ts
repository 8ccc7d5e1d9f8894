// Addresses and networks, in every way to write them.

import { expect, test } from 'vitest'
import { isIn, networkOf, parseAddress, parseNetwork } from '../../src/access/network.ts'

test.each([
  ['192.0.2.7', '192.0.2.0/24', true],
  ['192.0.3.7', '192.0.2.0/24', false],
  ['192.0.3.7', '192.0.2.0/23', true],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.7/32', true],
  ['192.0.2.8', '192.0.2.7/32', false],
  ['8.8.8.8', '0.0.0.0/0', true],
  ['::ffff:192.0.2.7', '192.0.2.0/24', true],
  ['192.0.2.7', '::ffff:192.0.2.0', false],
  ['192.0.2.0', '::ffff:192.0.2.0', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['2001:db8:8000::1', '2001:db8::/33', false],
  ['fe80::1%eth0', 'fe80::/10', true],
  ['::1', '0.0.0.0/0', false],
  ['1.2.3.4', '::/0', false],
])('%s in %s: %s', (address, network, expected) => {
  expect(isIn(parseAddress(address)!, parseNetwork(network)!)).toBe(expected)
})

test.each([
  '',
  'localhost',
  '192.0.2',
  '192.0.2.256',
  '192.0.2.07',
  '0x7f.1',
  '2130706433',
  '192.0.2.0/33',
  '192.0.2.0/',
  '192.0.2.0/-1',
  '192.0.2.0/8/8',
  '2001:db8::/129',
  '2001:db8::g',
  '[::1]',
  '::1]/',
  'a:b@c',
])('%s is no network', (text) => {
  expect(parseNetwork(text)).toBeUndefined()
})

test('a visitor is counted with its network: one address of IPv4, 64 bits of IPv6', () => {
  expect(networkOf('192.0.2.7')).toBe('192.0.2.7')
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7')
  expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8::ffff:1'))
  expect(networkOf('2001:db8::1')).not.toBe(networkOf('2001:db8:0:1::1'))
})
