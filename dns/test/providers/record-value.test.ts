// Values of records between the relay's form and that of zone files (RFC 1035 §5.1).

import { expect, test } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { fromPresentation, quoteTxt, unquoteTxt } from '../../src/providers/record-value.ts'
import { plainName, relativeName, zoneCandidates } from '../../src/providers/zone-names.ts'

test('any text comes back, in strings of at most 255 bytes of visible ASCII', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 }).filter((value) => value.isWellFormed())
  fc.assert(
    fc.property(text, (value) => {
      const quoted = quoteTxt(value)
      expect(quoted).toMatch(/^[\x20-\x7e]+$/)
      expect(unquoteTxt(quoted)).toBe(value)
    }),
    { numRuns: 30 },
  )
  expect(quoteTxt('x'.repeat(256))).toBe(`"${'x'.repeat(255)}" "x"`)
})

test.each([
  ['plain', 'plain'],
  ['"two" "strings"', 'twostrings'],
  ['"a\\"b\\\\c\\059"', 'a"b\\c;'],
  ['""', ''],
  ['"open', 'open'],
  ['"end\\', 'end'],
])('%s is the text %s', (raw, text) => {
  expect(fromPresentation('TXT', raw)).toBe(text)
})

test('addresses have one spelling', () => {
  expect(fromPresentation('AAAA', '2001:DB8:0:0::1')).toBe('2001:db8::1')
  expect(fromPresentation('A', ' 192.0.2.1 ')).toBe('192.0.2.1')
})

test('the zone of a host is searched from the host upwards, and no top-level domain is asked for', () => {
  expect(zoneCandidates('a.relay.example.com')).toEqual([
    'a.relay.example.com',
    'relay.example.com',
    'example.com',
  ])
  expect(zoneCandidates('com')).toEqual([])
  expect(zoneCandidates(`${'a.'.repeat(100)}com`)).toHaveLength(9)
  expect(relativeName('example.com', 'example.com', '@')).toBe('@')
  expect(relativeName('*.relay.example.com', 'example.com', '@')).toBe('*.relay')
  expect(plainName('NS1.Example.COM.')).toBe('ns1.example.com')
})
