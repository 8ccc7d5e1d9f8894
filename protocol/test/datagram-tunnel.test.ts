// The datagram codec: literal bytes of the flow ids' spelling (unsigned LEB128, DWARF 5 §7.6).

import { describe, expect, test } from 'vitest'
import fc from '../../tools/fast-check.ts'
import { decodeDatagram, encodeDatagram } from '../src/index.ts'

const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))

/** Flow id → its bytes, the published examples of DWARF 5 (figure 22) among them. */
const SPELLINGS: [number, string][] = [
  [1, '01'],
  [2, '02'],
  [127, '7f'],
  [128, '8001'],
  [129, '8101'],
  [12857, 'b964'],
  [16_383, 'ff7f'],
  [16_384, '808001'],
  [624_485, 'e58e26'],
  [2 ** 31 - 1, 'ffffffff07'],
  [2 ** 31, '8080808008'],
  [2 ** 32 - 1, 'ffffffff0f'],
]

describe('a datagram', () => {
  test.each(SPELLINGS)('flow %i begins with %s', (flowId, header) => {
    const datagram = hex(`${header}c0ffee`)
    expect(encodeDatagram(flowId, hex('c0ffee'))).toEqual(datagram)
    expect(decodeDatagram(datagram)).toEqual({ flowId, payload: hex('c0ffee') })
  })

  test('may be empty, as UDP may', () => {
    expect(encodeDatagram(300, new Uint8Array())).toEqual(hex('ac02'))
    expect(decodeDatagram(hex('ac02'))).toEqual({ flowId: 300, payload: new Uint8Array() })
  })

  test.each([
    ['nothing', ''],
    ['flow 0', '00c0ffee'],
    ['a truncated id', '80'],
    ['an id truncated in its last byte', 'ffffffff'],
    ['an id that never ends', 'ffffffffffffffffffffff'],
    ['33 bits', 'ffffffff1f'],
    ['64 bits', 'ffffffffffffffffff01'],
    ['a longer spelling of 1', '8100'],
    ['a longer spelling of 0', '8000'],
  ])('%s is none', (_name, text) => {
    expect(decodeDatagram(hex(text))).toBeUndefined()
  })

  test('comes out as it went in, whatever it is', () => {
    const flowIds = fc.integer({ min: 1, max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(flowIds, fc.uint8Array({ maxLength: 64 }), (flowId, payload) => {
        expect(decodeDatagram(encodeDatagram(flowId, payload))).toEqual({ flowId, payload })
      }),
    )
  })

  test('any other bytes are a datagram in its one spelling, or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const decoded = decodeDatagram(bytes)
        if (decoded) expect(encodeDatagram(decoded.flowId, decoded.payload)).toEqual(bytes)
      }),
    )
  })
})
