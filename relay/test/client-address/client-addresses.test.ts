// Tests client addresses from proxies: the PROXY protocol v2, `Forwarded`, and which proxies the relay trusts.

import { isIP } from 'node:net'
import { describe, expect, test } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { crc32c } from '../../src/core/client-address/crc32c.ts'
import { parseForwarded } from '../../src/core/client-address/forwarded-header.ts'
import { networkOf, normalizeIp } from '../../src/core/client-address/ip-address.ts'
import { proxyClientAddress, proxyHeaderLength } from '../../src/core/client-address/proxy-protocol.ts'
import { TrustedProxies } from '../../src/core/client-address/trusted-proxies.ts'
import {
  LOCAL,
  PROXY_TCP4,
  PROXY_TCP6,
  PROXY_UNIX,
  proxyHeader,
  tcp4,
  tcp6,
  tlv,
  withChecksum,
} from '../support/proxy-header.ts'

const V6 = '20010db8000000000000000000000007'

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

describe('PROXY protocol §2.2', () => {
  test('TCP over IPv4, as the specification writes it', () => {
    const literal = Buffer.from(
      '0d0a0d0a000d0a515549540a2111000ccb007107c00002013039 01bb'.replace(' ', ''),
      'hex',
    )
    expect(proxyHeader(PROXY_TCP4, tcp4('203.0.113.7'))).toEqual(literal)
    expect(proxyHeaderLength(literal.subarray(0, 16))).toBe(12)
    expect(proxyClientAddress(literal)).toBe('203.0.113.7')
  })

  test('TCP over IPv6; an IPv4 address within is one', () => {
    expect(proxyClientAddress(proxyHeader(PROXY_TCP6, tcp6(V6)))).toBe('2001:db8::7')
    expect(proxyClientAddress(proxyHeader(PROXY_TCP6, tcp6('00000000000000000000ffffcb007107')))).toBe(
      '203.0.113.7',
    )
  })

  test('UNIX, UNSPEC and LOCAL name nobody, whatever follows', () => {
    expect(proxyClientAddress(proxyHeader(PROXY_UNIX, Buffer.alloc(216)))).toBeUndefined()
    for (const commands of [LOCAL, [0x20, 0x11], [0x21, 0x00]] as const)
      for (const body of [Buffer.alloc(0), Buffer.from('garbage')])
        expect(proxyClientAddress(proxyHeader(commands, body))).toBeUndefined()
  })

  test('TLVs are skipped, and a checksum holds (PP2_TYPE_CRC32C)', () => {
    const tlvs = Buffer.concat([
      tlv(0x01, Buffer.from('h2')),
      tlv(0x04, Buffer.alloc(0)),
      tlv(0xea, Buffer.alloc(99)),
    ])
    const body = Buffer.concat([tcp4('203.0.113.7'), tlvs])
    expect(proxyClientAddress(proxyHeader(PROXY_TCP4, body))).toBe('203.0.113.7')
    expect(proxyClientAddress(withChecksum(PROXY_TCP4, body))).toBe('203.0.113.7')
  })

  test('any flipped bit of a header with a checksum is noticed', () => {
    const header = withChecksum(PROXY_TCP4, tcp4('203.0.113.7'))
    for (let byte = 16; byte < 28; byte++) {
      const broken = Buffer.from(header)
      broken[byte]! ^= 1
      expect(() => proxyClientAddress(broken)).toThrow('wrong checksum')
    }
  })

  test.each([
    ['version 1', [0x11, 0x11], tcp4('203.0.113.7')],
    ['an unknown command', [0x22, 0x11], tcp4('203.0.113.7')],
    ['UDP', [0x21, 0x12], tcp4('203.0.113.7')],
    ['an unknown family', [0x21, 0x41], Buffer.alloc(216)],
    ['too few bytes for IPv4', PROXY_TCP4, tcp4('203.0.113.7').subarray(1)],
    ['too few bytes for IPv6', PROXY_TCP6, tcp4('203.0.113.7')],
    ['half a TLV head', PROXY_TCP4, Buffer.concat([tcp4('203.0.113.7'), Buffer.from([1, 0])])],
    ['a TLV beyond the end', PROXY_TCP4, Buffer.concat([tcp4('203.0.113.7'), Buffer.from([1, 0, 1])])],
    ['a short checksum', PROXY_TCP4, Buffer.concat([tcp4('203.0.113.7'), tlv(3, Buffer.alloc(3))])],
  ] as const)('%s is refused', (_name, commands, body) => {
    expect(() => proxyClientAddress(proxyHeader(commands, body))).toThrow(
      expect.objectContaining({ name: 'ProxyHeaderError' }),
    )
  })

  test('every other signature is refused', () => {
    const fixed = proxyHeader(PROXY_TCP4)
    for (let byte = 0; byte < 12; byte++) {
      const broken = Buffer.from(fixed)
      broken[byte]! ^= 0x20
      expect(() => proxyHeaderLength(broken)).toThrow('signature')
    }
  })

  test('any bytes are a header or a ProxyHeaderError, and never name what is no address', () => {
    const command = fc.constantFrom(0x20, 0x21, 0x22)
    const family = fc.constantFrom(0x00, 0x11, 0x21, 0x31, 0x12)
    fc.assert(
      fc.property(command, family, fc.uint8Array({ maxLength: 300 }), (command, family, body) => {
        try {
          const client = proxyClientAddress(proxyHeader([command, family], Buffer.from(body)))
          expect(client === undefined || isIP(client) !== 0).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ name: 'ProxyHeaderError' })
        }
      }),
    )
  })

  test('CRC-32C: the vectors of RFC 3720 §B.4', () => {
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa)
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43)
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, at) => at))).toBe(0x46dd794e)
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
