// The codec on literal bytes: RFC 8448's own messages, and one changed field at a time.

import { describe, expect, test } from 'vitest'
import { encodeCertificate } from '../../src/messages/certificate.ts'
import { encodeEncryptedExtensions } from '../../src/messages/encrypted-extensions.ts'
import {
  ALERT,
  alertRecord,
  certificateVerifyContent,
  DecodeError,
  messageHash,
  parseCertificate,
  parseClientHello,
  parseEncryptedExtensions,
  parseServerHello,
  suiteHash,
} from '../../src/messages/index.ts'
import { encodeHelloRetryRequest, encodeServerHello } from '../../src/messages/server-hello-encoder.ts'
import { concat, u8, vector } from '../../src/messages/writer.ts'
import { buildClientHello, ext } from '../support/client-hello-builder.ts'
import { hex, toHex } from '../support/hex.ts'
import trace from '../vectors/rfc8448-section3.json' with { type: 'json' }

function alertOf(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError)
    return (error as DecodeError).alert
  }
  throw new Error('nothing was thrown')
}

describe('§4.1.2 ClientHello', () => {
  test('RFC 8448 §3', () => {
    const hello = parseClientHello(hex(trace.clientHello))
    expect(toHex(hello.random)).toBe('cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7')
    expect(hello.cipherSuites).toEqual([0x1301, 0x1303, 0x1302])
    expect(hello.serverName).toBe('server')
    expect(hello.supportedVersions).toEqual([0x0304])
    expect(hello.supportedGroups).toEqual([29, 23, 24, 25, 256, 257, 258, 259, 260])
    expect(hello.signatureAlgorithms).toHaveLength(15)
    expect(hello.keyShares.map(({ group }) => group)).toEqual([29])
    expect(hello.alpn).toEqual([])
    expect(hello.recordSizeLimit).toBe(0x4001)
    expect(hello.preSharedKey).toBeUndefined()
    expect(hello.earlyData).toBe(false)
    expect([...hello.extensions.keys()]).toEqual([0, 65281, 10, 35, 51, 43, 13, 45, 28])
  })

  test('every proper prefix is refused', () => {
    const whole = hex(trace.clientHello)
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.slice(0, length)
      expect(() => parseClientHello(cut)).toThrow(DecodeError)
      // Also when the header agrees with the shorter length.
      if (length >= 4) {
        new DataView(cut.buffer).setUint32(0, (1 << 24) | (length - 4))
        // Without its extension block a hello is whole: TLS 1.2 allows that (RFC 5246 §7.4.1.2).
        if (length === 49) expect(parseClientHello(cut).extensions.size).toBe(0)
        else expect(alertOf(() => parseClientHello(cut))).toBe(ALERT.decode_error)
      }
    }
  })

  test('trailing bytes are refused', () => {
    const padded = concat(hex(trace.clientHello), u8(0))
    expect(alertOf(() => parseClientHello(padded))).toBe(ALERT.decode_error)
    new DataView(padded.buffer).setUint32(0, (1 << 24) | (padded.length - 4))
    expect(alertOf(() => parseClientHello(padded))).toBe(ALERT.decode_error)
  })

  test.each<[string, [number, Uint8Array][], number]>([
    ['§4.2 a duplicate extension', [ext.alpn('a'), ext.alpn('a')], ALERT.illegal_parameter],
    ['§4.2.8 two shares of a group', [ext.keyShare([29, u8(1)], [29, u8(2)])], ALERT.illegal_parameter],
    ['§4.2.8 an empty share', [ext.keyShare([29, new Uint8Array()])], ALERT.decode_error],
    [
      '§4.2.11 pre_shared_key not last',
      [ext.preSharedKey([u8(1)], [new Uint8Array(32)]), ext.alpn('a')],
      ALERT.illegal_parameter,
    ],
    [
      '§4.2.11 fewer binders than identities',
      [ext.preSharedKey([u8(1), u8(2)], [new Uint8Array(32)])],
      ALERT.illegal_parameter,
    ],
    ['§4.2.11 a short binder', [ext.preSharedKey([u8(1)], [new Uint8Array(31)])], ALERT.decode_error],
    ['§4.2.10 early_data with a body', [[42, u8(0)]], ALERT.decode_error],
    ['RFC 8449 §4 a limit under 64', [ext.recordSizeLimit(63)], ALERT.illegal_parameter],
    [
      'RFC 7301 §3.1 an empty protocol name',
      [[16, vector(2, vector(1), vector(1, u8(97)))]],
      ALERT.decode_error,
    ],
    ['an odd list of groups', [[10, vector(2, new Uint8Array(3))]], ALERT.decode_error],
    ['an empty list of groups', [[10, vector(2)]], ALERT.decode_error],
    ['an empty list of versions', [[43, vector(1)]], ALERT.decode_error],
  ])('%s', (_, extensions, alert) => {
    expect(alertOf(() => parseClientHello(buildClientHello({ extensions })))).toBe(alert)
  })

  test('a session id over 32 bytes', () => {
    const message = buildClientHello({ sessionId: new Uint8Array(33) })
    expect(alertOf(() => parseClientHello(message))).toBe(ALERT.decode_error)
  })

  test('§4.2.11.2 the binders are at the end', () => {
    const extensions = [ext.pskModes(1), ext.preSharedKey([hex('aabb')], [new Uint8Array(32).fill(7)])]
    const message = buildClientHello({ extensions })
    const { preSharedKey } = parseClientHello(message)
    expect(preSharedKey!.bindersLength).toBe(2 + 1 + 32)
    expect(toHex(preSharedKey!.identities[0]!.identity)).toBe('aabb')
    expect(message.at(-preSharedKey!.bindersLength + 2)).toBe(32)
  })
})

describe('RFC 6066 §3 server_name', () => {
  const nameOf = (body: Uint8Array) =>
    parseClientHello(buildClientHello({ extensions: [[0, body]] })).serverName
  const entry = (name: string, type = 0) => concat(u8(type), vector(2, new TextEncoder().encode(name)))

  test('is lower-cased', () =>
    expect(nameOf(vector(2, entry('Demo.Relay.Example')))).toBe('demo.relay.example'))
  test('another name type is no host name', () => expect(nameOf(vector(2, entry('x', 9)))).toBeUndefined())

  test.each([
    'a..b',
    '.a',
    'a.',
    'a b',
    'a/b',
    'é.example',
    '::1',
    'a\0b',
    `${'a'.repeat(64)}.b`,
    'a.'.repeat(127),
  ])('refuses %j', (name) => {
    expect(alertOf(() => nameOf(vector(2, entry(name))))).toBe(ALERT.illegal_parameter)
  })
  test('refuses two host names', () => {
    expect(alertOf(() => nameOf(vector(2, entry('a'), entry('b'))))).toBe(ALERT.illegal_parameter)
  })
  test('refuses an empty list, an empty name, trailing bytes', () => {
    for (const body of [vector(2), vector(2, entry('')), concat(vector(2, entry('a')), u8(0))])
      expect(alertOf(() => nameOf(body))).toBe(ALERT.decode_error)
  })
})

describe('server messages', () => {
  test('§4.1.3 ServerHello of RFC 8448 §3', () => {
    const hello = parseServerHello(hex(trace.serverHello))
    expect(hello).toMatchObject({ cipherSuite: 0x1301, selectedVersion: 0x0304, isHelloRetryRequest: false })
    expect([...hello.extensions.keys()]).toEqual([51, 43])
    const keyExchange = hello.extensions.get(51)!.subarray(4)
    const again = encodeServerHello({ ...hello, group: 29, keyExchange, selectedIdentity: undefined })
    expect(parseServerHello(again)).toEqual({
      ...hello,
      extensions: new Map([...hello.extensions].reverse()),
    })
  })

  test('§4.1.4 HelloRetryRequest', () => {
    const message = encodeHelloRetryRequest({ sessionId: hex('0102'), cipherSuite: 0x1302, group: 0x0017 })
    expect(toHex(message)).toBe(
      `020000360303cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c` +
        `02010213020000` +
        `0c002b00020304` +
        `003300020017`,
    )
    expect(parseServerHello(message)).toMatchObject({ isHelloRetryRequest: true, selectedVersion: 0x0304 })
  })

  test('§4.1.3 a ServerHello of TLS 1.2 has no selected version', () => {
    const body = concat(hex('0303'), new Uint8Array(32), vector(1), hex('c02f00'))
    const message = concat(hex('02'), vector(3, body))
    expect(parseServerHello(message).selectedVersion).toBeUndefined()
  })

  test('§4.3.1 EncryptedExtensions', () => {
    const ours = encodeEncryptedExtensions({ serverName: true, alpn: 'http/1.1', recordSizeLimit: 0x4001 })
    expect(toHex(ours)).toBe('0800001b001900000000' + '0010000b000908687474702f312e31' + '001c00024001')
    expect(parseEncryptedExtensions(ours).alpn).toBe('http/1.1')
    expect([...parseEncryptedExtensions(hex(trace.encryptedExtensions)).extensions.keys()]).toEqual([
      10, 28, 0,
    ])
    const two = concat(hex('08'), vector(3, vector(2, hex('0010'), vector(2, ext.alpn('a', 'b')[1]))))
    expect(alertOf(() => parseEncryptedExtensions(two))).toBe(ALERT.illegal_parameter)
  })

  test('§4.4.2 Certificate', () => {
    const { context, certificates } = parseCertificate(hex(trace.certificate))
    expect(context).toHaveLength(0)
    expect(certificates.map(({ length }) => length)).toEqual([0x1b0])
    expect(toHex(encodeCertificate(certificates))).toBe(trace.certificate)
    expect(alertOf(() => parseCertificate(hex('0b00000400000000')))).toBe(ALERT.decode_error)
  })

  test('§4.4.3 CertificateVerify content', () => {
    const content = certificateVerifyContent(hex('0101'))
    expect(toHex(content)).toBe(
      `${'20'.repeat(64)}544c5320312e332c20736572766572204365727469666963617465566572696679000101`,
    )
  })

  test('§4.4.1 the synthetic message, and the hash of each suite', () => {
    expect(toHex(messageHash(new Uint8Array(32)))).toBe(`fe000020${'00'.repeat(32)}`)
    expect([0x1301, 0x1302, 0x1303, 0x1304, 0xc02f].map(suiteHash)).toEqual([
      'SHA-256',
      'SHA-384',
      'SHA-256',
      undefined,
      undefined,
    ])
  })

  test('§6 alert record', () => {
    expect(toHex(alertRecord(ALERT.unrecognized_name))).toBe('15030300020270')
    expect(toHex(alertRecord(ALERT.close_notify))).toBe('15030300020100')
  })
})
