// A write that leaves within the call: the window, a saturated transport and earlier writes bound it.

import { expect, test } from 'vitest'
import { pattern } from './support/bytes.ts'
import { headers, scripted } from './support/scripted.ts'

const WINDOW = 256 * 1024

async function opened(options = {}) {
  const peer = scripted(options)
  await peer.feed('00 01 0001 00000001 00000000')
  await peer.sent()
  return { ...peer, peer, stream: peer.streams[0]! }
}

/** The payload of messages of data frames. */
function payload(messages: Uint8Array[]): number[] {
  const bytes: number[] = []
  for (const message of messages)
    for (let at = 0; at < message.length; ) {
      const length = new DataView(message.buffer, message.byteOffset).getUint32(at + 8)
      bytes.push(...message.subarray(at + 12, at + 12 + length))
      at += 12 + length
    }
  return bytes
}

test('is sent when it returns, and its memory may change', async () => {
  const { stream, messages } = await opened()
  const bytes = pattern(40_000)
  const expected = [...bytes]
  expect(stream.writeNow(bytes)).toBe(40_000)
  bytes.fill(0)
  expect(payload(messages)).toEqual(expected)
})

test('sends no more than the window', async () => {
  const { stream, messages, feed } = await opened()
  const bytes = pattern(WINDOW + 1)
  expect(stream.writeNow(bytes)).toBe(WINDOW)
  expect(stream.writeNow(bytes)).toBe(0)
  expect(payload(messages)).toEqual([...bytes.subarray(0, WINDOW)])
  await feed('00 01 0000 00000001 00000001')
  expect(stream.writeNow(bytes)).toBe(1)
})

test('sends what the transport takes before it is saturated, and the rest is the caller’s', async () => {
  let held = 0
  const hold = (bytes: number): void => {
    held += bytes
  }
  const memory = { hold, mayGrow: true }
  const { stream, peer } = await opened({ memory })
  const drained = Promise.withResolvers<void>()
  peer.transport.saturated = drained.promise
  const bytes = pattern(200_000)
  const sent = stream.writeNow(bytes)
  expect(sent).toBeGreaterThan(0)
  expect(sent).toBeLessThan(bytes.length)
  expect(held).toBe(0)
  expect(stream.writeNow(bytes.subarray(sent))).toBe(0)
  const rest = stream.write(bytes.subarray(sent))
  peer.transport.saturated = undefined
  drained.resolve()
  await rest
  expect(payload(peer.messages)).toEqual([...bytes])
})

test('waits behind what was written before, in any stream', async () => {
  const { stream, streams, feed, messages } = await opened()
  await feed('00 01 0001 00000003 00000000')
  messages.length = 0
  void streams[1]!.write(Uint8Array.of(7))
  void stream.write(Uint8Array.of(8))
  expect(stream.writeNow(Uint8Array.of(9))).toBe(0)
  expect(streams[1]!.writeNow(Uint8Array.of(10))).toBe(0)
  await feed()
  expect(payload(messages)).toEqual([7, 8])
  void streams[1]!.write(Uint8Array.of(11))
  expect(stream.writeNow(Uint8Array.of(12))).toBe(1)
  expect(payload(messages)).toEqual([7, 8, 11, 12])
})

test('is nothing in a stream that has ended, or was reset', async () => {
  const { stream, streams, feed, messages } = await opened()
  await stream.end()
  expect(stream.writeNow(Uint8Array.of(1))).toBe(0)
  await feed('00 01 0001 00000003 00000000', '00 01 0008 00000003 00000000')
  messages.length = 0
  expect(streams[1]!.writeNow(Uint8Array.of(1))).toBe(0)
  expect(messages.flatMap(headers)).toEqual([])
})
