// §5.1: records out of a byte stream.

import { describe, expect, test } from 'vitest'
import { concat } from '../../src/messages/writer.ts'
import { RecordReader } from '../../src/record/record-reader.ts'
import { growth, LINEAR_GROWTH_MAX } from '../support/cost.ts'
import { hex, toHex } from '../support/hex.ts'

const EMPTY = hex('1703030000')
const wire = hex('1603010003aabbcc' + '1703030000' + '15030300020100' + '1703030001ff')
const expected = ['22:aabbcc', '23:', '21:0100', '23:ff']

describe('RecordReader', () => {
  test.each([1, 2, 3, 4, 5, 7, 100])('chunks of %i bytes', (size) => {
    const reader = new RecordReader()
    const found: string[] = []
    for (let at = 0; at < wire.length; at += size) {
      reader.push(wire.slice(at, at + size))
      for (let record = reader.shift(); record !== undefined; record = reader.shift())
        found.push(`${record.type}:${toHex(record.fragment)}`)
    }
    expect(found).toEqual(expected)
    expect(reader.backlog).toBe(0)
  })

  test('counts what waits, and each chunk of it', () => {
    const reader = new RecordReader()
    reader.push(wire)
    expect(reader.backlog).toBe(wire.length + 128)
    reader.shift()
    expect(reader.backlog).toBe(wire.length - 8)
    for (let i = 0; i < 10; i++) reader.push(EMPTY.subarray(0, 1))
    expect(reader.backlog).toBe(wire.length - 8 + 10 * 129)
  })

  test('keeps no chunks of the middle of a fragment', () => {
    const reader = new RecordReader()
    reader.push(hex('1603010004aa'))
    expect([reader.shift(), reader.backlog]).toEqual([undefined, 0])
    expect([reader.push(hex('bb')), reader.backlog]).toEqual([false, 0])
    expect([reader.push(hex('cc')), reader.backlog]).toEqual([false, 0])
    expect(reader.push(hex('dd15'))).toBe(true)
    expect(toHex(reader.shift()!.fragment)).toBe('aabbccdd')
  })

  test('an error comes after the records before it, and stays', () => {
    const reader = new RecordReader()
    reader.push(concat(wire, hex('18')))
    for (const _ of expected)
      expect([reader.shift()?.type, reader.error]).toEqual([expect.any(Number), undefined])
    expect([reader.shift(), reader.error?.alert]).toEqual([undefined, 10])
    reader.push(wire)
    expect(reader.shift()).toBeUndefined()
  })

  test('2^14 + 256 bytes of fragment, and one more', () => {
    const reader = new RecordReader()
    reader.push(concat(hex('1703034100'), new Uint8Array(0x4100)))
    expect(reader.shift()!.fragment).toHaveLength(0x4100)
    reader.push(hex('1703034101'))
    expect([reader.shift(), reader.error?.alert]).toEqual([undefined, 22])
  })

  test('no quadratic path: a flood of empty records', () => {
    const cost = growth(25_000, (count) => {
      const reader = new RecordReader()
      const flood = new Uint8Array(5 * count)
      for (let at = 0; at < flood.length; at += 5) flood.set(EMPTY, at)
      reader.push(flood)
      while (reader.shift() !== undefined);
    })
    expect(cost).toBeLessThan(LINEAR_GROWTH_MAX)
  })
})
