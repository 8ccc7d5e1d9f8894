// Messages of 64 KiB that are made to take long: they are not decoded.

import { type Answer, encode } from 'dns-packet'
import { describe, expect, test } from 'vitest'
import { MESSAGE_PARTS_MAX, OTHER_RECORDS_MAX, RECORDS_MAX } from '../../src/client/limits.ts'
import { decodeAnswer } from '../../src/client/message.ts'
import { a, cname, ns, txt } from './fake-server.ts'

const ID = 7
const QUESTION = { name: 'shop.test', type: 'TXT' } as const
const HEADER_BYTES = 12
/** A pointer to the name of the question, and to the first name after it. */
const [TO_QUESTION, TO_FIRST] = [Buffer.of(0xc0, HEADER_BYTES), Buffer.of(0xc0, HEADER_BYTES + 11 + 4)]

const answered = (answers: Answer[]): Buffer =>
  encode({ type: 'response', id: ID, questions: [{ ...QUESTION, class: 'IN' }], answers })

/** A message with these records as they are. */
function raw(records: readonly Buffer[]): Buffer {
  const head = answered([])
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, ...records])
}

function record(name: Buffer, type: number, data: Buffer): Buffer {
  const length = Buffer.of(data.length >> 8, data.length & 0xff)
  return Buffer.concat([name, Buffer.of(type >> 8, type & 0xff, 0, 1, 0, 0, 0, 0), length, data])
}

const LONG = Buffer.concat([...Array.from({ length: 126 }, () => Buffer.of(1, 0x61)), Buffer.of(0)])
const ADDRESS = Buffer.of(192, 0, 2, 1)
const repeated = (count: number, one: Buffer): Buffer[] => Array.from({ length: count }, () => one)

describe('an answer', () => {
  test.each<[string, Buffer]>([
    [
      'that points to one long name',
      raw([record(LONG, 1, ADDRESS), ...repeated(500, record(TO_FIRST, 1, ADDRESS))]),
    ],
    [
      'with long targets',
      raw([record(LONG, 1, ADDRESS), ...repeated(500, record(TO_QUESTION, 2, TO_FIRST))]),
    ],
    ['of empty strings', raw([record(TO_QUESTION, 16, Buffer.alloc(MESSAGE_PARTS_MAX + 1))])],
    ['with too many records', raw(repeated(RECORDS_MAX + 1, record(TO_QUESTION, 1, ADDRESS)))],
    ['with too many of other types', raw(repeated(OTHER_RECORDS_MAX + 1, record(TO_QUESTION, 47, LONG)))],
    ['whose names run in circles', raw([record(TO_FIRST, 1, ADDRESS)])],
    ['whose record is cut', raw([record(TO_QUESTION, 1, ADDRESS)]).subarray(0, -5)],
  ])('%s is not decoded', (_what, bytes) => {
    expect(decodeAnswer(bytes, ID, QUESTION)).toBeUndefined()
  })

  test('of ordinary records is', () => {
    const records = [
      txt('shop.test', 'x'),
      cname('b.test', 'c.test'),
      ns('test', 'ns.test'),
      a('ns.test', '192.0.2.1'),
    ]
    const many = Array.from({ length: 300 }, (_, index) => txt('shop.test', `${index}`))
    expect(decodeAnswer(answered([...records, ...many]), ID, QUESTION)?.answers).toHaveLength(304)
  })
})
