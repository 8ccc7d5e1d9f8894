// A socket that its handler pauses: the visitor waits, nothing is lost, and silence is not taken for absence.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CLOSE_MS, PONG_MS, SILENCE_MS } from '../../src/websocket/limits.ts'
import { Client, frame, settle, status } from './client.ts'

const TEXT = 1
const CLOSE = 8

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

async function opened(): Promise<Client> {
  const client = await Client.open()
  client.socket.addEventListener('message', () => client.socket.pause())
  return client
}

test('of messages that come together one at a time is taken', async () => {
  const client = await opened()
  await client.send(
    Buffer.concat([frame(TEXT, 'a'), frame(TEXT, 'b'), frame(TEXT, 'c'), frame(CLOSE, status(4000))]),
  )
  for (const seen of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await settle()
    expect(client.events).toEqual(['open', ...seen])
    client.socket.resume()
  }
  expect(await client.rest()).toEqual([{ opcode: CLOSE, payload: Buffer.from(status(4000)) }])
  expect(client.events.at(-1)).toBe('close 4000  clean')
})

test('a visitor whose pongs are not read is not dropped, and its silence counts again afterwards', async () => {
  const client = await opened()
  await client.send(frame(TEXT, 'a'))
  await settle()
  await vi.advanceTimersByTimeAsync(3 * (SILENCE_MS + PONG_MS))
  expect(client.socket.readyState).toBe(WebSocket.OPEN)
  client.socket.resume()
  await vi.advanceTimersByTimeAsync(SILENCE_MS + PONG_MS + 10)
  await settle()
  expect(client.events).toEqual(['open', 'a', 'error ping_timeout', 'close 1006 '])
})

test('a paused socket that is closed reads the answer', async () => {
  const client = await opened()
  await client.send(frame(TEXT, 'a'))
  await settle()
  client.socket.close(1008)
  await client.send(frame(CLOSE, status(1008)))
  await client.rest()
  expect(client.events).toEqual(['open', 'a', 'close 1008  clean'])
})

test('terminate ends the connection without a Close frame, behind what was sent', async () => {
  const client = await opened()
  client.socket.send('last')
  client.socket.terminate()
  client.socket.send('too late')
  expect(await client.rest()).toEqual([{ opcode: TEXT, payload: Buffer.from('last') }])
  expect(client.events).toEqual(['open', 'close 1006 '])
})

test('terminate drops a visitor that does not end its direction', async () => {
  const client = await opened()
  client.socket.terminate()
  await settle()
  await vi.advanceTimersByTimeAsync(CLOSE_MS + 10)
  await settle()
  expect(client.visitor.server.isBroken).toBe(true)
})
