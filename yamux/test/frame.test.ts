// Specification, "Framing": the header, as literal bytes.

import { expect, test } from 'vitest'
import { FLAG, readHeader, TYPE, writeHeader } from '../src/frame.ts'
import { hex } from './support/scripted.ts'

const VECTORS = [
  ['data', '00 00 0000 00000001 00004000', TYPE.data, 0, 1, 16384],
  ['window update with SYN', '00 01 0001 00000003 00000000', TYPE.windowUpdate, FLAG.syn, 3, 0],
  ['window update with ACK', '00 01 0002 00000003 000c0000', TYPE.windowUpdate, FLAG.ack, 3, 786432],
  ['data with FIN', '00 00 0004 fffffffe 00000005', TYPE.data, FLAG.fin, 4294967294, 5],
  ['reset', '00 01 0008 80000001 00000000', TYPE.windowUpdate, FLAG.rst, 2147483649, 0],
  ['ping', '00 02 0001 00000000 ffffffff', TYPE.ping, FLAG.syn, 0, 4294967295],
  ['go away', '00 03 0000 00000000 00000002', TYPE.goAway, 0, 0, 2],
] as const

test.each(VECTORS)('%s', (_name, digits, type, flags, streamId, length) => {
  const literal = hex(digits)
  expect(readHeader(literal, 0)).toEqual({ type, flags, streamId, length })

  const written = new Uint8Array(14).fill(0xaa)
  writeHeader(written, 1, type, flags, streamId, length)
  expect(written).toEqual(new Uint8Array([0xaa, ...literal, 0xaa]))
})

test('another version is refused', () => {
  expect(() => readHeader(hex('01 00 0000 00000001 00000000'), 0)).toThrow(
    expect.objectContaining({ code: 'bad_version', goAwayCode: 1 }),
  )
})

test('an unknown type is refused', () => {
  expect(() => readHeader(hex('00 04 0000 00000001 00000000'), 0)).toThrow(
    expect.objectContaining({ code: 'bad_type', goAwayCode: 1 }),
  )
})
