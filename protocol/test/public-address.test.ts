// Public addresses: one of each special-purpose network of IANA's registries, its edges, and the forms that carry IPv4.

import { expect, test } from 'vitest'
import { isPublicAddress } from '../src/index.ts'

test.each([
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.1', '127.255.255.255'],
  ['169.254.0.0', '169.254.169.254'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.1', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.1', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
])('%s to %s is not public, nor mapped, translated or in 6to4', (...edges) => {
  for (const address of edges) {
    const [a, b, c, d] = address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))
    const hex = `${a}${b}:${c}${d}`
    const forms = [`::ffff:${address}`, `::FFFF:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`]
    for (const form of [address, ...forms]) expect([form, isPublicAddress(form)]).toEqual([form, false])
  }
})

test.each([
  ['the unspecified address', '::'],
  ['loopback', '::1'],
  ['loopback in full', '0:0:0:0:0:0:0:1'],
  ['IPv4-compatible, deprecated', '::8.8.8.8'],
  ['NAT64 of a local network', '64:ff9b:1::808:808'],
  ['discard-only', '100::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['benchmarking', '2001:2::1'],
  ['ORCHIDv2', '2001:2f:ffff::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff:fff:ffff::1'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fdff:ffff::1'],
  ['link-local', 'fe80::1'],
  ['site-local, deprecated', 'fec0::1'],
  ['multicast', 'ff02::1'],
])('%s, %s, is not public', (_, address) => expect(isPublicAddress(address)).toBe(false))

test.each([
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['169.253.255.255', '172.15.255.255', '172.32.0.0', '192.0.1.0', '198.17.255.255', '198.20.0.0'],
  ...['223.255.255.255', '2000::', '2001:200::1', '2001:db9::1', '2606:4700:4700::1111', '3ffe:ffff::1'],
  ...['3fff:1000::1', '2a00:1450:4001:82a::200e', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'],
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))

test.each([
  ...[
    '',
    'localhost',
    'relay.example.com',
    '8.8.8',
    '8.8.8.8.8',
    '8.8.8.8.',
    '08.8.8.8',
    '256.8.8.8',
    '0x8.8.8.8',
  ],
  ...[
    '134744072',
    '8.8.8.8/32',
    ' 8.8.8.8',
    '2606:4700',
    '2606::4700::1',
    '2606:4700::1%eth0',
    '[2606:4700::1]',
  ],
  ...['2606:4700::1]/@[', '2606:4700::12345', ':'.repeat(46)],
])('%j is no IP address', (text) => expect(isPublicAddress(text)).toBe(false))
