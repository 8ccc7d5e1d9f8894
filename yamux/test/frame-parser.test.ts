// The parser: any splitting gives the same frames, and no payload is held.

import { expect, test } from 'vitest'
import { FrameParser } from '../src/frame-parser.ts'
import { hex } from './support/scripted.ts'

const FRAMES = hex(`
  00 01 0001 00000001 00000000
  00 00 0000 00000001 00000005 68656c6c6f
  00 00 0000 00000001 00000000
  00 02 0001 00000000 00000007
  00 00 0004 00000001 00000003 627965
`)

/** What a parser passes on, with the payload of each frame joined. */
function parse(chunks: Iterable<Uint8Array>): string[] {
  const events: string[] = []
  let payload = ''
  const parser = new FrameParser({
    onHeader: ({ type, flags, streamId, length }) => events.push(`${type} ${flags} ${streamId} ${length}`),
    onPayload(bytes, last) {
      payload += Buffer.from(bytes).toString()
      if (!last) return
      events.push(payload)
      payload = ''
    },
  })
  for (const chunk of chunks) parser.push(chunk)
  return events
}

const EXPECTED = ['1 1 1 0', '0 0 1 5', 'hello', '0 0 1 0', '2 1 0 7', '0 4 1 3', 'bye']

test('whole frames', () => {
  expect(parse([FRAMES])).toEqual(EXPECTED)
})

test('split in two at every byte', () => {
  for (let at = 0; at <= FRAMES.length; at++)
    expect(parse([FRAMES.subarray(0, at), FRAMES.subarray(at)]), `at ${at}`).toEqual(EXPECTED)
})

test('pieces of every size from one byte', () => {
  for (let size = 1; size <= FRAMES.length; size++) {
    const pieces = Array.from({ length: Math.ceil(FRAMES.length / size) }, (_, i) =>
      FRAMES.subarray(i * size, (i + 1) * size),
    )
    expect(parse(pieces), `of ${size}`).toEqual(EXPECTED)
  }
})

test('a payload is passed on as views of its chunk, before it is complete', () => {
  const seen: Uint8Array[] = []
  const parser = new FrameParser({ onHeader: () => {}, onPayload: (bytes) => seen.push(bytes) })
  parser.push(hex('00 00 0000 00000001 ffffffff'))
  const piece = new Uint8Array(65536)
  for (let i = 0; i < 3; i++) parser.push(piece)
  expect(seen.map((bytes) => [bytes.buffer === piece.buffer, bytes.length])).toEqual(
    Array(3).fill([true, 65536]),
  )
})

test('nothing is passed on after stop, not even from the same chunk', () => {
  const seen: number[] = []
  const parser = new FrameParser({
    onHeader({ length }) {
      seen.push(length)
      parser.stop()
    },
    onPayload: () => seen.push(-1),
  })
  parser.push(FRAMES)
  expect(seen).toEqual([0])
})
