// Tests client addresses from proxies: `Forwarded`, and which proxies the relay trusts.

import { isIP } from 'node:net'
import { describe, expect, test } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { parseForwarded } from '../../src/core/client-address/forwarded-header.ts'
import { networkOf, normalizeIp } from '../../src/core/client-address/ip-address.ts'
import { TrustedProxies } from '../../src/core/client-address/trusted-proxies.ts'

describe('TRUSTED_PROXIES', () => {
  test('addresses and ranges of both families, with spaces around them', () => {
    const trusted = new TrustedProxies(' 192.0.2.1, 10.0.0.0/8 ,2001:db8::/32,2001:DB9::1, ')
    for (const ip of ['192.0.2.1', '10.255.0.1', '2001:db8:1::1', '2001:db9::1'])
      expect(trusted.has(ip), ip).toBe(true)
    for (const ip of ['192.0.2.2', '11.0.0.0', '2001:db9::2', '::1', ''])
      expect(trusted.has(ip), ip).toBe(false)
  })

  test('an empty list trusts nobody, a /0 a whole family', () => {
    expect(new TrustedProxies('').has('127.0.0.1')).toBe(false)
    expect(new TrustedProxies('0.0.0.0/0').has('203.0.113.9')).toBe(true)
    expect(new TrustedProxies('0.0.0.0/0').has('2001:db8::1')).toBe(false)
  })

  test.each([
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '[::1]',
    '10.0.0.1:80',
  ])('%s is refused', (text) => {
    expect(() => new TrustedProxies(`127.0.0.1,${text}`)).toThrow(`"${text}"`)
  })
})

describe('Forwarded (RFC 7239)', () => {
  test.each([
    // §4, §5 and §6 of the RFC
    ['for="_gazonk"', [undefined]],
    ['For="[2001:db8:cafe::17]:4711"', ['2001:db8:cafe::17']],
    ['for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
    ['for=192.0.2.43, for=198.51.100.17', ['192.0.2.43', '198.51.100.17']],
    ['for=_hidden, for=_SEVKISEK', [undefined, undefined]],
    ['for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown', ['192.0.2.43', '2001:db8:cafe::17', undefined]],
    ['for=192.0.2.43, for="[2001:db8:cafe::17]";by=203.0.113.60', ['192.0.2.43', '2001:db8:cafe::17']],
    // what else its grammar allows
    ['for="192.0.2.43:47011"', ['192.0.2.43']],
    ['for="192.0.2.43:_port"', ['192.0.2.43']],
    ['for="\\1\\9\\2.0.2.43"', ['192.0.2.43']],
    ['FOR=UNKNOWN', [undefined]],
    ['proto=https', [undefined]],
    ['host="a,b;c=\\"d\\"";for=192.0.2.43', ['192.0.2.43']],
    [' for=192.0.2.43 ; proto=https ,\t, for=192.0.2.44;', ['192.0.2.43', '192.0.2.44']],
    ['for="[::ffff:192.0.2.43]"', ['192.0.2.43']],
    ['', []],
    [',', []],
  ])('%s', (field, hops) => {
    expect(parseForwarded(field)).toEqual(hops)
  })

  test.each([
    'for',
    'for=',
    'for =192.0.2.43',
    'for= 192.0.2.43',
    'for=192.0.2.43 for=192.0.2.44',
    'for=192.0.2.43;for=192.0.2.44',
    'for=192.0.2.43;FOR=192.0.2.43',
    'for=192.0.2.43:80',
    'for=[2001:db8::1]',
    'for="2001:db8::1"',
    'for="[2001:db8::1"',
    'for="[2001:db8::1]80"',
    'for="[fe80::1%eth0]"',
    'for="[192.0.2.43]"',
    'for="192.0.2.43:"',
    'for="192.0.2.43:123456"',
    'for="192.0.2.43',
    'for="192.0.2.43\\"',
    'for=192.0.2',
    'for=192.0.2.043',
    'for=example.com',
    'for=""',
    'for=_',
    'for="_a b"',
    'for="unknown:x"',
    'for=192.0.2.43, garbage',
    "for=192.0.2.43, ' or 1=1",
  ])('%s is malformed', (field) => {
    expect(parseForwarded(field)).toBeUndefined()
  })

  test('any text is a list of addresses, or malformed', () => {
    const piece = fc.constantFrom(
      'for=',
      '"',
      '[',
      ']',
      ':',
      ';',
      ',',
      '_',
      '\\',
      'unknown',
      '192.0.2.1',
      '::1',
      ' ',
    )
    const text = fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, (field) => {
        for (const hop of parseForwarded(field) ?? []) expect(hop === undefined || isIP(hop) !== 0).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('what grows with the field grows linearly: 16 KiB of anything is read at once', () => {
    const before = process.threadCpuUsage()
    for (const piece of ['a', 'a=b;', ',', 'a="', '\\', ' ', 'for=192.0.2.43,', 'a="\\"";'])
      parseForwarded(piece.repeat(16_384 / piece.length))
    expect(parseForwarded('for=192.0.2.43,'.repeat(1000))).toHaveLength(1000)
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::1', '2001:db8:1:2'],
  ['2001:db8:1::2', '2001:db8:1:0'],
  ['2001::4:5:6:7:8', '2001:0:0:4'],
  ['fd9c:6cc0:2f1f:1:2:3:4:5', 'fd9c:6cc0:2f1f:1:2:3:4:5'],
  ['fd9c:6cc0:2f1f::5', 'fd9c:6cc0:2f1f::5'],
  ['fd9c:6cc0:2f1e:1:2:3:4:5', 'fd9c:6cc0:2f1e:1'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
])('%s is counted as %s', (ip, network) => {
  expect(networkOf(normalizeIp(ip)!)).toBe(network)
})
