// §5.1: a ClientHello peeked out of records, in any chunking, within its limits.

import { describe, expect, test } from 'vitest'
import { ALERT, ClientHelloReader, DecodeError } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { buildClientHello, ext, records } from '../support/client-hello-builder.ts'
import { growth, LINEAR_GROWTH_MAX } from '../support/cost.ts'
import { hex } from '../support/hex.ts'
import trace from '../vectors/rfc8448-section3.json' with { type: 'json' }

const MAX = 64 * 1024
const hello = hex(trace.clientHello)

function codeOf(bytes: Uint8Array, maxBytes = MAX): [string, number] {
  try {
    new ClientHelloReader({ maxBytes }).push(bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError)
    return [(error as DecodeError).code, (error as DecodeError).alert]
  }
  throw new Error('nothing was thrown')
}

describe('any chunking', () => {
  test.each([1, 2, 3, 5, 7, 100, 10_000])('chunks of %i bytes, fragments of 1, 3 and all', (size) => {
    for (const fragment of [1, 3, 2 ** 14]) {
      const wire = records(22, hello, fragment)
      const reader = new ClientHelloReader({ maxBytes: MAX })
      let found: Uint8Array | undefined
      let at = 0
      for (; at < wire.length && found === undefined; at += size)
        found = reader.push(wire.subarray(at, at + size))
      expect(found).toEqual(hello)
      expect(at).toBeGreaterThanOrEqual(wire.length)
    }
  })

  test('what follows is ignored', () => {
    const reader = new ClientHelloReader({ maxBytes: MAX })
    expect(reader.push(concat(records(22, hello), hex('ffffffffff')))).toEqual(hello)
    expect(reader.push(hex('00'))).toEqual(hello)
  })

  test('the largest that fits', () => {
    const extensions = [ext.serverName('a'), [21, new Uint8Array(60_000)] as [number, Uint8Array]]
    const wire = records(22, buildClientHello({ extensions }))
    expect(new ClientHelloReader({ maxBytes: wire.length + 1 }).push(wire)).toBeDefined()
  })

  test('no quadratic path: 1-byte pieces', () => {
    const cost = growth(7_500, (size) => {
      const wire = records(22, buildClientHello({ extensions: [[21, new Uint8Array(size)]] }))
      const reader = new ClientHelloReader({ maxBytes: MAX })
      for (let at = 0; at < wire.length; at++) reader.push(wire.subarray(at, at + 1))
    })
    expect(cost).toBeLessThan(LINEAR_GROWTH_MAX)
  })
})

describe('refused at the first byte that shows it', () => {
  test.each<[string, Uint8Array, string]>([
    ['HTTP', new TextEncoder().encode('G'), 'not_tls'],
    ['SSLv2', hex('802e01'), 'not_tls'],
    ['SSH', new TextEncoder().encode('SSH-2.0-'), 'not_tls'],
    ['application data', hex('17'), 'not_tls'],
    ['a wrong version', hex('1604'), 'not_tls'],
    ['§5.1 an empty fragment', hex('1603010000'), 'not_tls'],
    ['a ServerHello', hex('160301000402'), 'not_client_hello'],
  ])('%s', (_, bytes, code) => {
    expect(codeOf(bytes)).toEqual([code, ALERT.unexpected_message])
  })

  test('another record type in the middle', () => {
    expect(codeOf(concat(records(22, hello.subarray(0, 50)), hex('15')))[0]).toBe('not_tls')
  })
})

describe('limits', () => {
  test('§5.1 a record over 2^14', () => {
    expect(codeOf(hex('1603014001'))).toEqual(['too_large', ALERT.record_overflow])
  })
  test('a header that claims too much, before the message arrives', () => {
    expect(codeOf(hex('160301000401ffffff'))).toEqual(['too_large', ALERT.illegal_parameter])
  })
  test('record headers count', () => {
    const wire = records(22, buildClientHello({ extensions: [[21, new Uint8Array(12_000)]] }), 1)
    expect(codeOf(wire)).toEqual(['too_large', ALERT.illegal_parameter])
  })
})
