// Lease names and canonical labels: what normalizes to what, and what to nothing.

import { describe, expect, test } from 'vitest'
import {
  canonicalLabel,
  identityKey,
  normalizeAddress,
  normalizeCanonicalLabel,
  normalizeName,
} from '../src/index.ts'

const ADDRESS = `0x${'ab'.repeat(20)}`

describe('normalizeName', () => {
  test.each([
    ['demo', 'demo'],
    [' Demo ', 'demo'],
    ['a', 'a'],
    ['a-b--c', 'a-b--c'],
    ['0x1', '0x1'],
    ['a'.repeat(22), 'a'.repeat(22)],
  ])('%j → %j', (name, normalized) => expect(normalizeName(name)).toBe(normalized))

  test.each(['', ' ', '-a', 'a-', 'a.b', 'a b', 'a_b', 'ä', '\u212a', 'a\0', '*', 'a'.repeat(23)])(
    '%j is none',
    (name) => expect(normalizeName(name)).toBeUndefined(),
  )
})

describe('normalizeAddress', () => {
  test('takes any case, with or without 0x', () => {
    expect(normalizeAddress(ADDRESS.slice(2).toUpperCase())).toBe(ADDRESS)
    expect(normalizeAddress(ADDRESS)).toBe(ADDRESS)
  })

  test.each(['', '0x', `${ADDRESS}0`, ADDRESS.slice(0, -1), ADDRESS.replace('ab', 'xy')])(
    '%j is none',
    (address) => expect(normalizeAddress(address)).toBeUndefined(),
  )
})

test('the canonical label of the longest name fills a DNS label to the last of its 63 octets', () => {
  const label = canonicalLabel('a'.repeat(22), ADDRESS)
  expect(label).toBe(`${'a'.repeat(22)}-${'ab'.repeat(20)}`)
  expect(label).toHaveLength(63)
})

test.each([
  ['a'.repeat(23), ADDRESS],
  ['Demo', ADDRESS],
  ['a.b', ADDRESS],
  ['', ADDRESS],
  ['demo', ADDRESS.slice(2)],
  ['demo', ADDRESS.toUpperCase()],
  ['demo', `${ADDRESS}0`],
])('there is no canonical label of %j and %j', (name, address) => {
  expect(() => canonicalLabel(name, address)).toThrow(RangeError)
})

test('a longer name has no hashed label in place of its own (protocol §3.1.7)', () => {
  expect(normalizeName('a'.repeat(23))).toBeUndefined()
  expect(() => canonicalLabel('a'.repeat(23), ADDRESS)).toThrow(RangeError)
  // 21 characters of a hash, two hyphens and the address: the hash and one hyphen would be a name.
  expect(normalizeCanonicalLabel(`${'2'.repeat(21)}--${ADDRESS.slice(2)}`)).toBeUndefined()
})

describe('normalizeCanonicalLabel', () => {
  const digits = ADDRESS.slice(2)
  test.each([
    [`demo-${digits}`, `demo-${digits}`],
    [`De-Mo-${digits.toUpperCase()}`, `de-mo-${digits}`],
    [`${'a'.repeat(22)}-${digits}`, `${'a'.repeat(22)}-${digits}`],
  ])('%s → %s', (label, normalized) => expect(normalizeCanonicalLabel(label)).toBe(normalized))

  test.each([
    '',
    '-',
    'demo',
    digits,
    `-${digits}`,
    `demo${digits}`,
    `demo-${ADDRESS}`,
    `demo--${digits}`,
    ` demo-${digits}`,
    `demo-${digits} `,
    `demo-${digits}0`,
    `demo-${digits.slice(1)}`,
    `a.b-${digits}`,
    `\u212a-${digits}`,
    `${'a'.repeat(23)}-${digits}`,
  ])('%j is none', (label) => expect(normalizeCanonicalLabel(label)).toBeUndefined())
})

test('an identity is its name and address', () =>
  expect(identityKey('demo', ADDRESS)).toBe(`demo:${ADDRESS}`))
