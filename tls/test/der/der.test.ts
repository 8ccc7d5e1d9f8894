// DER (X.690 §8, §10): what is written is read again, and other forms of the same are refused.

import { describe, expect, it } from 'vitest'
import { DER_OID, DER_TAG, DerReader, encodeDer, encodeDerOid } from '../../src/der/index.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))

it.each([
  [0, '3000'],
  [1, '3001'],
  [127, '307f'],
  [128, '308180'],
  [255, '3081ff'],
  [256, '30820100'],
  [65_535, '3082ffff'],
  [65_536, '3083010000'],
])('a content of %i bytes has its length in the shortest form (§10.1)', (length, header) => {
  const encoded = encodeDer(DER_TAG.sequence, new Uint8Array(length))
  expect(hex(encoded.subarray(0, header.length / 2))).toBe(header)
  expect(encoded.length).toBe(header.length / 2 + length)
})

it('an object identifier is that of RFC 5280', () => {
  expect(hex(encodeDerOid(DER_OID.subjectAltName))).toBe('0603551d11')
})

describe('a reader', () => {
  it('takes elements one after the other, with their content and whole encoding', () => {
    const reader = new DerReader(bytes('020105' + '3004' + '04020102'))
    expect(reader.take(DER_TAG.integer)).toEqual({ tag: 2, content: bytes('05'), der: bytes('020105') })
    const inner = reader.enter(DER_TAG.sequence)
    expect(inner.take()).toEqual({ tag: 4, content: bytes('0102'), der: bytes('04020102') })
    inner.end()
    reader.end()
    expect(reader.isDone).toBe(true)
  })

  it('takes lengths of one to three bytes', () => {
    for (const length of [128, 255, 256, 65_535, 65_536])
      expect(new DerReader(encodeDer(4, new Uint8Array(length))).take(4).content).toHaveLength(length)
  })

  it.each([
    ['nothing', '', /cut short/],
    ['a tag alone', '30', /cut short/],
    ['a length that is cut short', '3082', /cut short/],
    ['a content that is cut short', '300201', /cut short/],
    ['another tag', '020101', /DER tag 2, not 48/],
    ['a length of 4 bytes', '308401000000', /a length of another form/],
    ['an indefinite length (§8.1.3.6)', '30800000', /a length of another form/],
    ['a length of 127 in two bytes', `30817f${'00'.repeat(127)}`, /a length of another form/],
    ['a length of 255 in three bytes', `308200ff${'00'.repeat(255)}`, /a length of another form/],
    ['a length of 65,535 in four bytes', `308300ffff${'00'.repeat(65_535)}`, /a length of another form/],
  ])('refuses %s', (_, encoded, message) => {
    expect(() => new DerReader(bytes(encoded)).take(DER_TAG.sequence)).toThrow(message)
  })

  it('refuses trailing bytes', () => {
    const reader = new DerReader(bytes('300000'))
    reader.take(DER_TAG.sequence)
    expect(() => reader.end()).toThrow(/trailing/)
  })
})
