// What waits to be read: views where they are cheap, copies where a view would cost more than its bytes.

import { expect, test } from 'vitest'
import { YamuxError } from '../src/errors.ts'
import { ReceiveBuffer } from '../src/receive-buffer.ts'
import { pattern } from './support/bytes.ts'

/** @param hold told of the bytes that wait */
const receiveBuffer = (hold: (bytes: number) => void = () => {}) => new ReceiveBuffer(() => {}, hold)

test('a large payload is handed over as it is', async () => {
  const buffer = receiveBuffer()
  const bytes = pattern(16 * 1024)
  buffer.push(bytes)
  expect(await buffer.read(undefined)).toBe(bytes)
})

test('a small part of a large message does not keep the message alive', async () => {
  const message = pattern(1024 * 1024)
  const waiting = receiveBuffer()
  waiting.push(message.subarray(0, 8192))
  const eager = receiveBuffer()
  const reading = eager.read(undefined)
  eager.push(message.subarray(7, 8))

  const buffered = await waiting.read(undefined)
  expect(buffered).toEqual(message.subarray(0, 8192))
  expect(buffered?.buffer.byteLength).toBe(8192)
  const read = await reading
  expect(read).toEqual(message.subarray(7, 8))
  expect(read?.buffer.byteLength).toBe(1)
})

test('a window of single bytes is kept in few chunks', async () => {
  const buffer = receiveBuffer()
  const bytes = pattern(256 * 1024)
  for (let i = 0; i < bytes.length; i++) buffer.push(bytes.slice(i, i + 1))
  buffer.end()
  const chunks: Uint8Array[] = []
  for (let chunk = await buffer.read(undefined); chunk !== undefined; chunk = await buffer.read(undefined))
    chunks.push(chunk)
  expect(new Uint8Array(Buffer.concat(chunks))).toEqual(bytes)
  expect(chunks.length).toBeLessThan(70)
  expect(chunks.reduce((sum, chunk) => sum + chunk.buffer.byteLength, 0)).toBeLessThan(bytes.length + 8192)
})

test('large and small payloads keep their order', async () => {
  const buffer = receiveBuffer()
  const bytes = pattern(50_000)
  const cuts = [0, 1, 5000, 5001, 5003, 20_000, 20_100, 49_999, 50_000]
  cuts.slice(1).forEach((end, i) => {
    buffer.push(bytes.slice(cuts[i], end))
  })
  buffer.end()
  const chunks: Uint8Array[] = []
  for (let chunk = await buffer.read(undefined); chunk !== undefined; chunk = await buffer.read(undefined))
    chunks.push(chunk)
  expect(new Uint8Array(Buffer.concat(chunks))).toEqual(bytes)
})

test('a second read at the same time is refused', async () => {
  const buffer = receiveBuffer()
  const first = buffer.read(undefined)
  await expect(buffer.read(undefined)).rejects.toMatchObject({ code: 'read_pending' })
  buffer.push(pattern(3))
  expect(await first).toEqual(pattern(3))
})

test('an error discards what was buffered, unless all of it had come and it may be kept', async () => {
  const error = new YamuxError('session_closed', 'closed')
  const broken = receiveBuffer()
  broken.push(pattern(10))
  broken.fail(error, true)
  await expect(broken.read(undefined)).rejects.toBe(error)

  const complete = receiveBuffer()
  complete.push(pattern(10))
  complete.end()
  complete.fail(error, true)
  expect(await complete.read(undefined)).toEqual(pattern(10))
  expect(await complete.read(undefined)).toBeUndefined()

  const reset = receiveBuffer()
  reset.push(pattern(10))
  reset.end()
  reset.fail(error, false)
  await expect(reset.read(undefined)).rejects.toBe(error)
})
