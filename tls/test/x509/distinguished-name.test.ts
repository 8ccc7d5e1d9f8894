// Names as text (RFC 4514).

import { expect, test } from 'vitest'
import { DER_TAG, DerReader, encodeDer, encodeDerOid } from '../../src/der/index.ts'
import { nameText } from '../../src/x509/distinguished-name.ts'

const { sequence, set, utf8String } = DER_TAG
const attribute = (id: string, value: string, tag: number = utf8String): Uint8Array =>
  encodeDer(sequence, encodeDerOid(id), encodeDer(tag, new TextEncoder().encode(value)))
const textOf = (...names: Uint8Array[]): string =>
  nameText(new DerReader(encodeDer(sequence, ...names)).take())
const CN = '550403'

test('§2.1 the last relative name comes first', () => {
  const names = [attribute('550406', 'DE'), attribute('55040a', 'Example'), attribute(CN, 'Alice')]
  expect(textOf(...names.map((name) => encodeDer(set, name)))).toBe('CN=Alice,O=Example,C=DE')
  expect(textOf()).toBe('')
})

test('§2.2 several attributes in one', () => {
  expect(textOf(encodeDer(set, attribute('55040b', 'Sales'), attribute(CN, 'J.  Smith')))).toBe(
    'OU=Sales+CN=J.  Smith',
  )
})

test.each([
  ['a,b+c"d\\e<f>g;h', 'a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h'],
  ['#x', '\\#x'],
  [' x ', '\\ x\\ '],
  [' ', '\\ '],
  ['a=b', 'a=b'],
  ['Lučić', 'Lučić'],
  ['a\r\nb\0', 'a\\0d\\0ab\\00'],
  ['\u202e', '\\e2\\80\\ae'],
])('§2.4 the value %j', (value, text) => {
  expect(textOf(encodeDer(set, attribute(CN, value)))).toBe(`CN=${text}`)
})

test('§2.3, §2.4 other types, and values that are no text', () => {
  expect(textOf(encodeDer(set, attribute('2b0601040182371501', 'x')))).toBe('1.3.6.1.4.1.311.21.1=#0c0178')
  expect(textOf(encodeDer(set, attribute('883703', 'x')))).toBe('2.999.3=#0c0178')
  expect(textOf(encodeDer(set, attribute(CN, 'x', DER_TAG.octetString)))).toBe('CN=#040178')
  const broken = encodeDer(sequence, encodeDerOid(CN), encodeDer(utf8String, Uint8Array.of(0xff)))
  expect(textOf(encodeDer(set, broken))).toBe('CN=#0c01ff')
})
