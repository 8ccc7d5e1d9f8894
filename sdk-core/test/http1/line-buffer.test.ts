// Bytes that wait to be parsed: lines across pieces, large pieces that are not joined, and a bound on the number of pieces.

import { describe, expect, test } from 'vitest'
import { UNJOINED_MIN_BYTES, WAITING_PIECES } from '../../src/http1/limits.ts'
import { LineBuffer } from '../../src/http1/line-buffer.ts'
import { latin1 } from './visitor.ts'

const large = (fill: number): Uint8Array => new Uint8Array(UNJOINED_MIN_BYTES).fill(fill)

function takeAll(buffer: LineBuffer): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let piece = buffer.take(Number.POSITIVE_INFINITY); piece; ) {
    pieces.push(piece)
    piece = buffer.take(Number.POSITIVE_INFINITY)
  }
  return pieces
}

describe('LineBuffer', () => {
  test('large pieces come out as they came, in the same memory', () => {
    const buffer = new LineBuffer()
    const pieces = [large(1), large(2), large(3)]
    for (const piece of pieces) buffer.append(piece)
    expect(buffer.length).toBe(3 * UNJOINED_MIN_BYTES)
    expect(takeAll(buffer).map(({ buffer }) => buffer)).toEqual(pieces.map(({ buffer }) => buffer))
    expect(buffer.length).toBe(0)
  })

  test('a line and its CRLF may lie across pieces', () => {
    const buffer = new LineBuffer()
    buffer.append(large(0x61))
    buffer.append(large(0x62))
    buffer.append(latin1.encode('\r'))
    expect(buffer.readLine(3 * UNJOINED_MIN_BYTES, 'head_too_large')).toBeUndefined()
    buffer.append(latin1.encode('\nrest'))
    const line = buffer.readLine(3 * UNJOINED_MIN_BYTES, 'head_too_large')
    expect(line).toBe('a'.repeat(UNJOINED_MIN_BYTES) + 'b'.repeat(UNJOINED_MIN_BYTES))
    expect(takeAll(buffer).map(latin1.decode)).toEqual(['rest'])
  })

  test('a line that is too long is refused without joining what waits behind it', () => {
    const buffer = new LineBuffer()
    buffer.append(large(0x61))
    buffer.append(large(0x62))
    expect(() => buffer.readLine(UNJOINED_MIN_BYTES / 2, 'head_too_large')).toThrow(
      expect.objectContaining({ code: 'head_too_large' }),
    )
  })

  test('tiny pieces behind a large one are joined beyond WAITING_PIECES of them', () => {
    const buffer = new LineBuffer()
    buffer.append(large(0))
    const tiny = 10 * WAITING_PIECES
    for (let at = 0; at < tiny; at++) buffer.append(Uint8Array.of(at % 251))
    expect(buffer.length).toBe(UNJOINED_MIN_BYTES + tiny)
    const pieces = takeAll(buffer)
    expect(pieces.length).toBeLessThanOrEqual(1 + WAITING_PIECES)
    const all = Buffer.concat(pieces)
    expect(all.subarray(UNJOINED_MIN_BYTES)).toEqual(
      Buffer.from(Array.from({ length: tiny }, (_, at) => at % 251)),
    )
  })

  test('a part of a piece is a copy, so that its taker may transfer it', () => {
    const buffer = new LineBuffer()
    buffer.append(large(1))
    buffer.append(large(2))
    const part = buffer.take(5)!
    structuredClone(part, { transfer: [part.buffer as ArrayBuffer] })
    expect(Buffer.concat(takeAll(buffer))).toHaveLength(2 * UNJOINED_MIN_BYTES - 5)
  })
})
