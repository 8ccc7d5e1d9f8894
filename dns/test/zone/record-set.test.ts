import { expect, test } from 'vitest'
import { packSets, type RecordSet, recordSet, unpackSets } from '../../src/zone/record-set.ts'

const EVERY_OCTET = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet))

test('a set has its records in the order of signatures, each once', () => {
  const data = [Buffer.from([2]), Buffer.from([1, 0]), Buffer.from([1]), Buffer.from([2]), Buffer.from([255])]
  expect(recordSet(1, 60, data).data).toEqual(['\x01', '\x01\x00', '\x02', '\xff'])
})

test('sets of any numbers and octets come back from the string that holds them', () => {
  const sets: RecordSet[] = [
    recordSet(65_535, 2 ** 31 - 1, [EVERY_OCTET, Buffer.alloc(16_000, 0xff)]),
    recordSet(
      1,
      0,
      Array.from({ length: 300 }, (_, index) => Buffer.from([index >> 8, index])),
    ),
    recordSet(257, 65_536, [Buffer.from([0])]),
  ]
  expect(unpackSets(packSets(sets))).toEqual(sets)
  expect(unpackSets(packSets([]))).toEqual([])
})

test('strings differ where sets do, however their octets are divided', () => {
  const one = packSets([recordSet(16, 60, [Buffer.from('ab'), Buffer.from('c')])])
  for (const [ttl, data] of [
    [60, ['a', 'bc']],
    [60, ['abc']],
    [61, ['ab', 'c']],
  ] as const)
    expect(
      packSets([
        recordSet(
          16,
          ttl,
          data.map((text) => Buffer.from(text)),
        ),
      ]),
    ).not.toBe(one)
})
