import { expect, test } from 'vitest'
import { DnsName } from '../../src/zone/name.ts'

test('names are compared without case, and keep the case in which they were given', () => {
  const name = DnsName.parse('ShOp.Relay.Example.')
  expect(name.wire.toString('latin1')).toBe('\x04ShOp\x05Relay\x07Example\x00')
  expect(name.key).toBe(DnsName.parse('shop.relay.example').key)
  expect(String(name)).toBe('ShOp.Relay.Example')
  // Octets beyond ASCII have no case (RFC 4343 §5).
  expect(DnsName.parse('\\192.example').key).not.toBe(DnsName.parse('\\224.example').key)
})

test('any octets are allowed in a label', () => {
  const wire = Buffer.from('\x07a.b\\\x00 \xff\x01c\x00', 'latin1')
  const name = DnsName.fromWire(wire)
  expect(String(name)).toBe('a\\.b\\\\\\000\\032\\255.c')
  expect(DnsName.parse(String(name)).key).toBe(name.key)
  expect(name.labelCount).toBe(2)
})

test('the root has no label and no parent', () => {
  for (const text of ['', '.']) {
    expect(DnsName.parse(text).wire).toEqual(Buffer.from([0]))
    expect(DnsName.parse(text).parent()).toBeUndefined()
  }
  expect(String(DnsName.parse('.'))).toBe('.')
})

test('a name is below another one by whole labels only', () => {
  const apex = DnsName.parse('b.example')
  expect(DnsName.parse('a.B.example').isBelowOrAt(apex)).toBe(true)
  expect(DnsName.parse('B.example').isBelowOrAt(apex)).toBe(true)
  expect(DnsName.parse('example').isBelowOrAt(apex)).toBe(false)
  expect(DnsName.parse('ab.example').isBelowOrAt(apex)).toBe(false)
  // The octets of the apex are in a label here: its length octet is data.
  expect(DnsName.parse('a\\001b.example').isBelowOrAt(apex)).toBe(false)
  expect(DnsName.parse('a.b.example').parent()!.key).toBe(apex.key)
})

test.each([
  ['an empty label', 'a..b'],
  ['a leading dot', '.a'],
  ['two dots', '..'],
  ['a label of 64 octets', `${'a'.repeat(64)}.example`],
  ['256 octets', `${'a.'.repeat(126)}abc`],
  ['an octet of 256', 'a\\256.example'],
  ['a character that is no octet', 'café.ex\u0100mple'],
  ['an escape that ends', 'a\\'],
  ['a million labels', 'a.'.repeat(1_000_000)],
])('a name with %s is refused', (_, text) => {
  expect(() => DnsName.parse(text)).toThrow(RangeError)
})

test('a name of 255 octets is taken', () => {
  expect(DnsName.parse(`${'a.'.repeat(125)}abc`).wire).toHaveLength(255)
})

test.each([
  ['nothing', []],
  ['no root label', [1, 97]],
  ['a label beyond the end', [5, 97, 0]],
  ['bytes after the root label', [1, 97, 0, 0]],
  ['a compression pointer', [0xc0, 0]],
  ['256 octets', [...Array.from({ length: 127 }, () => [1, 97]).flat(), 1, 97, 0]],
])('wire form with %s is refused', (_, bytes) => {
  expect(() => DnsName.fromWire(Uint8Array.from(bytes))).toThrow(RangeError)
})
