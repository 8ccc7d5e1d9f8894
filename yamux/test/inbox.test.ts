// What waits to be read: views where they are cheap, copies where a view would cost more than its bytes.

import { expect, test } from 'vitest'
import { YamuxError } from '../src/errors.ts'
import { Inbox } from '../src/inbox.ts'
import { pattern } from './support/bytes.ts'

/** @param hold told of the bytes that wait */
const inbox = (hold: (bytes: number) => void = () => {}) => new Inbox(() => {}, hold)

test('a large payload is handed over as it is', async () => {
  const box = inbox()
  const bytes = pattern(16 * 1024)
  box.push(bytes)
  expect(await box.read(undefined)).toBe(bytes)
})

test('a small part of a large message does not keep the message alive', async () => {
  const message = pattern(1024 * 1024)
  const waiting = inbox()
  waiting.push(message.subarray(0, 8192))
  const eager = inbox()
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
  const box = inbox()
  const bytes = pattern(256 * 1024)
  for (let i = 0; i < bytes.length; i++) box.push(bytes.slice(i, i + 1))
  box.end()
  const chunks: Uint8Array[] = []
  for (let chunk = await box.read(undefined); chunk !== undefined; chunk = await box.read(undefined))
    chunks.push(chunk)
  expect(new Uint8Array(Buffer.concat(chunks))).toEqual(bytes)
  expect(chunks.length).toBeLessThan(70)
  expect(chunks.reduce((sum, chunk) => sum + chunk.buffer.byteLength, 0)).toBeLessThan(bytes.length + 8192)
})

test('large and small payloads keep their order', async () => {
  const box = inbox()
  const bytes = pattern(50_000)
  const cuts = [0, 1, 5000, 5001, 5003, 20_000, 20_100, 49_999, 50_000]
  cuts.slice(1).forEach((end, i) => {
    box.push(bytes.slice(cuts[i], end))
  })
  box.end()
  const chunks: Uint8Array[] = []
  for (let chunk = await box.read(undefined); chunk !== undefined; chunk = await box.read(undefined))
    chunks.push(chunk)
  expect(new Uint8Array(Buffer.concat(chunks))).toEqual(bytes)
})

test('a second read at the same time is refused', async () => {
  const box = inbox()
  const first = box.read(undefined)
  await expect(box.read(undefined)).rejects.toMatchObject({ code: 'read_pending' })
  box.push(pattern(3))
  expect(await first).toEqual(pattern(3))
})

test('an error discards what was buffered, unless all of it had come and it may be kept', async () => {
  const error = new YamuxError('session_closed', 'closed')
  const broken = inbox()
  broken.push(pattern(10))
  broken.fail(error, true)
  await expect(broken.read(undefined)).rejects.toBe(error)

  const complete = inbox()
  complete.push(pattern(10))
  complete.end()
  complete.fail(error, true)
  expect(await complete.read(undefined)).toEqual(pattern(10))
  expect(await complete.read(undefined)).toBeUndefined()

  const reset = inbox()
  reset.push(pattern(10))
  reset.end()
  reset.fail(error, false)
  await expect(reset.read(undefined)).rejects.toBe(error)
})
