// Requests that outlive their responses, RFC 9113 §8.1: each may end by itself for a while before it is reset.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import {
  CONNECTION_WINDOW_BYTES,
  DISCARDED_REQUEST_MAX_MS,
  DISCARDED_REQUEST_MS,
  FRAME_BYTES,
  STREAM_WINDOW_BYTES,
  STREAMS_MAX,
} from '../../src/http2/limits.ts'
import { Visitor } from './visitor.ts'
import {
  block,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  get,
  HEADERS,
  ping,
  post,
  reset,
  WHOLE,
} from './wire.ts'

const early: FetchHandler = () => new Response('early')
const short = (id: number, length = 5): Buffer => post(id, { 'content-length': String(length) })
const ANSWER = ['HEADERS 1', 'DATA 1 5 end']

/** Sends the head of a request, whose answer comes before its body. */
async function answered(head = short(1), options = {}): Promise<Visitor> {
  const visitor = await Visitor.open(early, options)
  await visitor.send(head)
  expect(await visitor.until(/end/)).toEqual(ANSWER)
  return visitor
}

/** Expects that the server sends nothing more, however long it takes, while it takes further requests. */
async function expectNothingMore(visitor: Visitor): Promise<void> {
  await vi.advanceTimersByTimeAsync(2 * DISCARDED_REQUEST_MS)
  await visitor.send(ping())
  expect(await visitor.next()).toBe('PING ack')
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each<[string, Buffer[]]>([
  ['its last octet', [frame(DATA, 0, 1, 'he'), frame(DATA, END_STREAM, 1, 'llo')]],
  ['an empty frame', [frame(DATA, 0, 1, 'hello'), frame(DATA, END_STREAM, 1)]],
  ['trailers', [frame(DATA, 0, 1, 'hello'), frame(HEADERS, WHOLE, 1, block([['x-check', 'sum']]))]],
])('a short request that ends with %s is not reset, and a frame follows its end', async (_, frames) => {
  const visitor = await answered()
  await visitor.send(...frames)
  expect(await visitor.next()).toBe('WINDOW_UPDATE 0 5')
  await expectNothingMore(visitor)
})

test('one that the visitor resets is not reset again', async () => {
  const visitor = await answered()
  await visitor.send(frame(DATA, 0, 1, 'he'), reset(1))
  await expectNothingMore(visitor)
})

test('one that does not end is reset with NO_ERROR after DISCARDED_REQUEST_MS, and later frames are late', async () => {
  const visitor = await answered()
  await visitor.send(frame(DATA, 0, 1, 'hell'))
  await vi.advanceTimersByTimeAsync(DISCARDED_REQUEST_MS - 1)
  await visitor.send(ping())
  expect(await visitor.next()).toBe('PING ack')
  await vi.advanceTimersByTimeAsync(1)
  expect(await visitor.next()).toBe('RST_STREAM 1 NO_ERROR')
  await visitor.send(frame(DATA, END_STREAM, 1, 'o'))
  await expectNothingMore(visitor)
})

test('one that goes on is reset after DISCARDED_REQUEST_MAX_MS', async () => {
  const visitor = await answered(post(1))
  const step = DISCARDED_REQUEST_MS - 1
  let passed = 0
  for (; passed + step < DISCARDED_REQUEST_MAX_MS; passed += step) {
    await vi.advanceTimersByTimeAsync(step)
    await visitor.send(frame(DATA, 0, 1, 'more'), ping())
    expect(await visitor.next()).toBe('PING ack')
  }
  await vi.advanceTimersByTimeAsync(DISCARDED_REQUEST_MAX_MS - passed)
  expect(await visitor.next()).toBe('RST_STREAM 1 NO_ERROR')
})

test.each<[string, string | undefined, Buffer]>([
  ['without', undefined, short(1)],
  ['with', '5', get(1)],
])('a success goes %s Content-Length while its request goes on, or not', async (_, length, head) => {
  const visitor = await Visitor.open(early)
  await visitor.send(head)
  const { headers } = await visitor.response(1)
  expect(headers['content-length']).toBe(length)
})

test('each has its own time', async () => {
  const visitor = await answered()
  await vi.advanceTimersByTimeAsync(DISCARDED_REQUEST_MS / 2)
  await visitor.send(short(3))
  await visitor.until('DATA 3 5 end')
  await vi.advanceTimersByTimeAsync(DISCARDED_REQUEST_MS / 2)
  await visitor.send(ping())
  expect([await visitor.next(), await visitor.next()]).toEqual(['RST_STREAM 1 NO_ERROR', 'PING ack'])
  await vi.advanceTimersByTimeAsync(DISCARDED_REQUEST_MS / 2)
  expect(await visitor.next()).toBe('RST_STREAM 3 NO_ERROR')
})

test.each<[string, Buffer]>([
  ['without Content-Length', post(1)],
  ['that is longer than its window', short(1, 3 * STREAM_WINDOW_BYTES)],
])('a request %s gets room for what is left, and time', async (_, head) => {
  const visitor = await answered(head)
  const granted: string[] = []
  for (let left = 3 * STREAM_WINDOW_BYTES - FRAME_BYTES; left >= 0; left -= FRAME_BYTES)
    await visitor.send(frame(DATA, left > 0 ? 0 : END_STREAM, 1, Buffer.alloc(FRAME_BYTES)))
  await visitor.send(ping())
  for (let said = await visitor.next(); said !== 'PING ack'; said = await visitor.next()) granted.push(said)
  expect(granted).toContain(`WINDOW_UPDATE 1 ${STREAM_WINDOW_BYTES / 2}`)
  expect(granted.filter((said) => !said.startsWith('WINDOW_UPDATE'))).toEqual([])
  await expectNothingMore(visitor)
})

test('ones that fill their windows to the last octet may end, and the connection gets its room back', async () => {
  const visitor = await Visitor.open(early)
  for (let id = 1; id < (2 * CONNECTION_WINDOW_BYTES) / STREAM_WINDOW_BYTES; id += 2) {
    await visitor.send(short(id, STREAM_WINDOW_BYTES))
    await visitor.until(`DATA ${id} 5 end`)
    for (let left = STREAM_WINDOW_BYTES - FRAME_BYTES; left >= 0; left -= FRAME_BYTES)
      await visitor.send(frame(DATA, left > 0 ? 0 : END_STREAM, id, Buffer.alloc(FRAME_BYTES)))
    await visitor.until(`WINDOW_UPDATE 0 ${STREAM_WINDOW_BYTES}`)
  }
  await expectNothingMore(visitor)
})

test.each<[string, Buffer, string]>([
  ['more than it announced', frame(DATA, 0, 1, 'hello!'), 'PROTOCOL_ERROR'],
  ['less than it announced', frame(DATA, END_STREAM, 1, 'hell'), 'PROTOCOL_ERROR'],
  ['a second head', frame(HEADERS, END_HEADERS, 1, block([['x', 'y']])), 'PROTOCOL_ERROR'],
])('one that sends %s is an error, once', async (_, wrong, code) => {
  const visitor = await answered()
  await visitor.send(wrong)
  expect(await visitor.next()).toBe(`RST_STREAM 1 ${code}`)
  await expectNothingMore(visitor)
})

test('frames after its end are an error of the connection', async () => {
  const visitor = await answered()
  await visitor.send(frame(DATA, END_STREAM, 1, 'hello'), frame(DATA, 0, 1, 'more'))
  expect(await visitor.until(/GOAWAY/)).toEqual(['WINDOW_UPDATE 0 5', 'GOAWAY 1 STREAM_CLOSED'])
})

test('of more than STREAMS_MAX the oldest is reset at once', async () => {
  const visitor = await Visitor.open(early)
  for (let i = 0; i < STREAMS_MAX; i++) {
    await visitor.send(short(2 * i + 1))
    expect((await visitor.until(/end/)).length).toBe(2)
  }
  const last = 2 * STREAMS_MAX + 1
  await visitor.send(short(last))
  expect(await visitor.until(/RST/)).toEqual([
    `HEADERS ${last}`,
    `DATA ${last} 5 end`,
    'RST_STREAM 1 NO_ERROR',
  ])
})

test('the connection is busy with it, and ends behind it when the site closes', async () => {
  const seen: string[] = []
  const closing = new AbortController()
  const visitor = await answered(short(1), {
    closing: closing.signal,
    activity: (activity: string) => seen.push(activity),
  })
  expect(seen.at(-1)).toBe('busy')
  closing.abort()
  expect(await visitor.next()).toBe('GOAWAY 1 NO_ERROR')
  await visitor.send(frame(DATA, END_STREAM, 1, 'hello'))
  expect(await visitor.until('end')).toEqual(['WINDOW_UPDATE 0 5', 'end'])
})

test('once it has ended the connection is idle, and another request is answered', async () => {
  const seen: string[] = []
  const visitor = await answered(short(1), { activity: (activity: string) => seen.push(activity) })
  await visitor.send(frame(DATA, END_STREAM, 1, 'hello'))
  expect(await visitor.next()).toBe('WINDOW_UPDATE 0 5')
  expect(seen.at(-1)).toBe('idle')
  await visitor.send(get(3))
  expect(await visitor.response(3)).toMatchObject({ status: '200', body: 'early' })
})

test.each<[string, (visitor: Visitor) => unknown]>([
  ['breaks', (visitor) => visitor.stream.abort(new Error('gone'))],
  ['is wrong', (visitor) => visitor.send(frame(DATA, 0, 0, 'x'))],
  ['is ended by the visitor', (visitor) => visitor.end()],
])('no timer is left of it when the connection %s', async (_, leave) => {
  const visitor = await answered()
  await leave(visitor)
  await visitor.end().catch(() => {})
  await vi.advanceTimersByTimeAsync(0)
  await visitor.served
  expect(vi.getTimerCount()).toBe(0)
})

test('a visitor that left before the answer is not waited for', async () => {
  const answer = Promise.withResolvers<Response>()
  const visitor = await Visitor.open(() => answer.promise)
  await visitor.send(short(1), frame(GOAWAY, 0, 0, Buffer.alloc(8)))
  await visitor.end()
  answer.resolve(new Response('early'))
  expect(await visitor.until('end')).toEqual([...ANSWER, 'end'])
  await visitor.served
})
