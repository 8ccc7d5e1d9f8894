// Tests headers of the PROXY protocol, versions 1 and 2.

import { isIP } from 'node:net'
import { describe, expect, test } from 'vitest'
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
} from '../../relay/test/support/proxy-header.ts'
import fc from '../../tools/fast-check.ts'
import { crc32c } from '../src/crc32c.ts'
import { addressBytes } from '../src/ip-address.ts'
import {
  encodeProxyHeader,
  encodeProxyLine,
  parseProxyHeader,
  proxyHeaderLength,
} from '../src/proxy-protocol.ts'

const V6 = '20010db8000000000000000000000007'

function sourceOf(header: Uint8Array): string | undefined {
  return parseProxyHeader(header).source?.address
}

describe('PROXY protocol §2.2', () => {
  test('TCP over IPv4, as the specification writes it', () => {
    const literal = Buffer.from(
      '0d0a0d0a000d0a515549540a2111000ccb007107c00002013039 01bb'.replace(' ', ''),
      'hex',
    )
    expect(proxyHeader(PROXY_TCP4, tcp4('203.0.113.7'))).toEqual(literal)
    expect(proxyHeaderLength(literal.subarray(0, 16))).toBe(12)
    expect(sourceOf(literal)).toBe('203.0.113.7')
  })

  test('TCP over IPv6; an IPv4 address within is one', () => {
    expect(sourceOf(proxyHeader(PROXY_TCP6, tcp6(V6)))).toBe('2001:db8::7')
    expect(sourceOf(proxyHeader(PROXY_TCP6, tcp6('00000000000000000000ffffcb007107')))).toBe('203.0.113.7')
  })

  test('UNIX, UNSPEC and LOCAL name nobody, whatever follows', () => {
    expect(sourceOf(proxyHeader(PROXY_UNIX, Buffer.alloc(216)))).toBeUndefined()
    for (const commands of [LOCAL, [0x20, 0x11], [0x21, 0x00]] as const)
      for (const body of [Buffer.alloc(0), Buffer.from('garbage')])
        expect(sourceOf(proxyHeader(commands, body))).toBeUndefined()
  })

  test('TLVs are skipped, and a checksum holds (PP2_TYPE_CRC32C)', () => {
    const tlvs = Buffer.concat([
      tlv(0x01, Buffer.from('h2')),
      tlv(0x04, Buffer.alloc(0)),
      tlv(0xea, Buffer.alloc(99)),
    ])
    const body = Buffer.concat([tcp4('203.0.113.7'), tlvs])
    expect(sourceOf(proxyHeader(PROXY_TCP4, body))).toBe('203.0.113.7')
    expect(sourceOf(withChecksum(PROXY_TCP4, body))).toBe('203.0.113.7')
  })

  test('any flipped bit of a header with a checksum is noticed', () => {
    const header = withChecksum(PROXY_TCP4, tcp4('203.0.113.7'))
    for (let byte = 16; byte < 28; byte++) {
      const broken = Buffer.from(header)
      broken[byte]! ^= 1
      expect(() => sourceOf(broken)).toThrow('wrong checksum')
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
    expect(() => sourceOf(proxyHeader(commands, body))).toThrow(
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
          const client = sourceOf(proxyHeader([command, family], Buffer.from(body)))
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

describe('encodeProxyHeader', () => {
  const source = { address: '203.0.113.7', port: 12345 }
  const destination = { address: '192.0.2.1', port: 443 }
  const traceId = Uint8Array.from({ length: 16 }, (_, at) => at)

  test('TCP over IPv4, byte for byte', () => {
    expect(Buffer.from(encodeProxyHeader({ source, destination })).toString('hex')).toBe(
      '0d0a0d0a000d0a515549540a2111000ccb007107c0000201303901bb',
    )
    expect(Buffer.from(encodeProxyHeader({ source, destination, traceId })).toString('hex')).toBe(
      '0d0a0d0a000d0a515549540a2111001fcb007107c0000201303901bbe00010000102030405060708090a0b0c0d0e0f',
    )
  })

  test('LOCAL without addresses, with the trace id', () => {
    const header = encodeProxyHeader({ source: undefined, destination: undefined, traceId })
    expect(Buffer.from(header.subarray(12)).toString('hex')).toBe(
      '20000013e00010000102030405060708090a0b0c0d0e0f',
    )
    expect(parseProxyHeader(header)).toEqual({ source: undefined, destination: undefined })
  })

  test('what it makes of any two addresses is parsed as them', () => {
    const ends = fc.record({ address: fc.oneof(fc.ipV4(), fc.ipV6()), port: fc.nat(0xffff) })
    fc.assert(
      fc.property(ends, ends, (source, destination) => {
        const header = encodeProxyHeader({ source, destination, traceId })
        expect(proxyHeaderLength(header)).toBe(header.length - 16)
        const parsed = parseProxyHeader(header)
        expect(parsed.traceId).toEqual(traceId)
        for (const [given, got] of [
          [source, parsed.source],
          [destination, parsed.destination],
        ] as const) {
          expect(got?.port).toBe(given.port)
          expect(bytesOf(got!.address)).toEqual(bytesOf(given.address))
        }
      }),
    )
  })

  test('text that is no address is refused', () => {
    for (const address of ['', 'localhost', '1.2.3', 'fe80::1%eth0'])
      expect(() => encodeProxyHeader({ source: { address, port: 1 }, destination })).toThrow(TypeError)
  })

  test('version 1: a line for each family, and UNKNOWN', () => {
    expect(encodeProxyLine({ source, destination })).toBe('PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n')
    const v6 = { address: '2001:db8::7', port: 1 }
    expect(encodeProxyLine({ source: v6, destination })).toBe(
      'PROXY TCP6 2001:db8:0:0:0:0:0:7 0:0:0:0:0:ffff:c000:201 1 443\r\n',
    )
    expect(encodeProxyLine({ source: undefined, destination: undefined })).toBe('PROXY UNKNOWN\r\n')
  })
})

/** The bytes of an address, an IPv4 one as IPv4 also where it is mapped into IPv6. */
function bytesOf(address: string): number[] {
  const bytes = addressBytes(address)!
  return bytes.length === 16 && bytes.slice(0, 12).join() === [...Array(10).fill(0), 255, 255].join()
    ? bytes.slice(12)
    : bytes
}
