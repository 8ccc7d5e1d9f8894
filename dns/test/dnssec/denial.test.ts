import { expect, test } from 'vitest'
import { NO_NAME_BITMAP, nsecData, presentTypesBitmap, successor } from '../../src/dnssec/denial.ts'
import { DnsName } from '../../src/zone/name.ts'
import { TYPE } from '../../src/zone/record-data.ts'

const APEX = DnsName.parse('t.example').key
const LONG = 'l'.repeat(63)
/** Octets that a name of 255 has beside the apex and three labels of 63. */
const REST = 255 - APEX.length - 3 * 64 - 1

test('types are a bitmap in windows (RFC 4034 §4.3), in any order', () => {
  const types = [1, 15, TYPE.RRSIG, TYPE.NSEC, 1234]
  const example = '0006400100000003041b000000000000000000000000000000000000000000000000000020'
  expect(presentTypesBitmap(types.reverse()).toString('hex')).toBe(example)
  expect(presentTypesBitmap([]).toString('hex')).toBe('0006000000000003')
  expect(NO_NAME_BITMAP.toString('hex')).toBe('001100000000000300000000000000000000' + '80')
})

test('the next name is the first possible name below', () => {
  expect(nsecData(DnsName.parse('a.t.example').key, APEX, NO_NAME_BITMAP).toString('latin1')).toBe(
    `\x01\0\x01a${APEX}${NO_NAME_BITMAP.toString('latin1')}`,
  )
})

test('a name without room below it is followed by the next one beside it (RFC 4471 §3.1.2)', () => {
  const next = (first: string): string =>
    String(
      DnsName.fromWire(
        Buffer.from(
          successor(DnsName.parse(`${first}.${LONG}.${LONG}.${LONG}.t.example`).key, APEX),
          'latin1',
        ),
      ),
    )
  const same = `.${LONG}.${LONG}.${LONG}.t.example`
  const full = (last: string): string => 'a'.repeat(REST - 1) + last
  expect(next('a'.repeat(REST - 1))).toBe(`${'a'.repeat(REST - 1)}\\000${same}`)
  expect(next(full('a'))).toBe(full('b') + same)
  expect(next(full('@'))).toBe(full('[') + same)
  expect(next(full('\\255'))).toBe(`${'a'.repeat(REST - 2)}b${same}`)
  expect(next('\\255'.repeat(REST))).toBe(`${'l'.repeat(62)}m.${LONG}.${LONG}.t.example`)
})

test('the last name of all is followed by the apex', () => {
  const last = (length: number): string => `\\255`.repeat(length)
  const name = DnsName.parse(`${last(REST)}.${last(63)}.${last(63)}.${last(63)}.t.example`)
  expect(name.wire).toHaveLength(255)
  expect(successor(name.key, APEX)).toBe(APEX)
})
