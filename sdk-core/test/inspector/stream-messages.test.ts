// Events and messages of gRPC, however their bytes are cut, and within bounds.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MESSAGE_BYTES } from '../../src/inspector/limits.ts'
import {
  GrpcMessages,
  ServerEvents,
  type SplitMessage,
  type Splitter,
} from '../../src/inspector/stream-messages.ts'
import { bytes } from './entries.ts'

const text = (message: SplitMessage): string => new TextDecoder().decode(message.data)

function split(
  make: (emit: (message: SplitMessage) => void) => Splitter,
  all: Uint8Array,
  cuts: readonly number[] = [],
): SplitMessage[] {
  const found: SplitMessage[] = []
  const splitter = make((message) => found.push(message))
  const places = [0, ...cuts.map((cut) => cut % all.length).sort((one, other) => one - other), all.length]
  for (const [index, from] of places.entries()) splitter.add(all.subarray(from, places[index + 1]))
  return found
}

const events = (stream: string, cuts?: readonly number[]) =>
  split((emit) => new ServerEvents(emit), bytes(stream), cuts)

test('events with data, type and id, with each line end, however the bytes are cut', () => {
  const stream =
    'retry: 1\r\n: comment\r\ndata: é\r\ndata:two\r\nid: 7\r\n\r\nevent: ping\rdata\r\rdata: last\n\n'
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
      const found = events(stream, cuts)
      expect(found.map((one) => [text(one), one.event, one.eventId])).toEqual([
        ['é\ntwo', undefined, '7'],
        ['', 'ping', '7'],
        ['last', undefined, '7'],
      ])
    }),
  )
})

test('an event without end is not kept whole', () => {
  const [one] = events(`data: ${'x'.repeat(10 * MESSAGE_BYTES)}\n\n`)
  expect(one!.data.length).toBeLessThanOrEqual(MESSAGE_BYTES)
  expect(one!.size).toBe(10 * MESSAGE_BYTES)
  const [many] = events(`${'data\n'.repeat(10 * MESSAGE_BYTES)}\n`)
  expect(many!.data.length).toBeLessThanOrEqual(MESSAGE_BYTES)
})

test('messages of gRPC, however the bytes are cut', () => {
  const long = new Uint8Array(300).fill(7)
  const all = Uint8Array.of(0, 0, 0, 0, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 44, ...long)
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
      const found = split((emit) => new GrpcMessages(emit), all, cuts)
      expect(found.map(({ size, isCompressed }) => [size, isCompressed])).toEqual([
        [2, false],
        [0, true],
        [300, false],
      ])
    }),
  )
})
