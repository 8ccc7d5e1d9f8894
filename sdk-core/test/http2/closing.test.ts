// The end of a connection, RFC 9113 §6.8 and §5.4.1: a site that closes, a visitor that leaves, a transport that breaks.

import { expect, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { HALF_CLOSED_MS, LINGER_MS } from '../../src/semantics/limits.ts'
import { settle, Visitor } from './visitor.ts'
import { DATA, END_STREAM, frame, GOAWAY, get, post } from './wire.ts'

async function closing(fetch: FetchHandler) {
  const controller = new AbortController()
  const visitor = await Visitor.open(fetch, { closing: controller.signal })
  return { visitor, close: () => controller.abort() }
}

test('a site that closes ends a connection on which nothing happens', async () => {
  const { visitor, close } = await closing(() => new Response('ok'))
  close()
  expect(await visitor.until('end')).toEqual(['GOAWAY 0 NO_ERROR', 'end'])
  await visitor.end()
  await visitor.served
})

test('what is on is finished; what comes behind GOAWAY is for another connection', async () => {
  const answer = Promise.withResolvers<Response>()
  const { visitor, close } = await closing(() => answer.promise)
  await visitor.send(get(1))
  await settle()
  close()
  expect(await visitor.next()).toBe('GOAWAY 1 NO_ERROR')
  await visitor.send(get(3), frame(DATA, 0, 3, 'x'))
  await settle()
  answer.resolve(new Response('whole'))
  expect((await visitor.response(1)).body).toBe('whole')
  expect(await visitor.next()).toBe('end')
  expect(visitor.requests).toHaveLength(1)
})

test('a site that is closed already says so at once', async () => {
  const visitor = new Visitor(undefined, { closing: AbortSignal.abort() })
  expect((await visitor.until('end')).slice(-2)).toEqual(['GOAWAY 0 NO_ERROR', 'end'])
})

test('a visitor that says GOAWAY gets what it asked for', async () => {
  const visitor = await Visitor.open(async () => {
    await settle()
    return new Response('ok')
  })
  await visitor.send(get(1), frame(GOAWAY, 0, 0, Buffer.alloc(8)))
  expect((await visitor.response(1)).body).toBe('ok')
  expect(await visitor.next()).toBe('end')
})

test('a visitor that ends its direction is taken to leave, and still answered', async () => {
  const answer = Promise.withResolvers<Response>()
  const visitor = await Visitor.open(() => answer.promise)
  await visitor.send(get(1))
  await settle()
  await visitor.end()
  await settle()
  expect(visitor.requests[0]?.signal.aborted).toBe(true)
  answer.resolve(new Response('ok'))
  expect((await visitor.response(1)).body).toBe('ok')
  await visitor.served
})

test('when it ended inside a body, the handler that reads is told', async () => {
  let failure: unknown
  const visitor = await Visitor.open(async (request) => {
    failure = await request.text().catch((error) => error)
    return new Response('ok')
  })
  await visitor.send(post(1), frame(DATA, 0, 1, 'begin'))
  await visitor.end()
  await visitor.response(1)
  expect(failure).toMatchObject({ code: 'incomplete_message' })
  await visitor.served
})

test('a visitor that ended and gets nothing for HALF_CLOSED_MS is gone', async () => {
  vi.useFakeTimers()
  const visitor = await Visitor.open(() => new Promise(() => {}))
  await visitor.send(get(1))
  await visitor.end()
  await vi.advanceTimersByTimeAsync(HALF_CLOSED_MS)
  await visitor.served
  expect(visitor.server.isBroken).toBe(true)
  vi.useRealTimers()
})

test('a transport that breaks aborts every signal and cancels every body', async () => {
  const cancel = vi.fn()
  const visitor = await Visitor.open((request) =>
    request.url.endsWith('/body') ? new Response(new ReadableStream({ cancel })) : new Promise(() => {}),
  )
  await visitor.send(get(1), get(3, '/body'))
  await visitor.next()
  visitor.stream.abort(new Error('gone'))
  await visitor.served
  expect(visitor.requests.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(cancel).toHaveBeenCalled()
  expect(visitor.errors).toEqual([])
})

test('after an error what still comes is read away, for LINGER_MS at most', async () => {
  vi.useFakeTimers()
  const visitor = await Visitor.open()
  await visitor.send(frame(DATA, 0, 0, 'x'))
  expect(await visitor.until('end')).toEqual(['GOAWAY 0 PROTOCOL_ERROR', 'end'])
  for (let i = 0; i < 100; i++) await visitor.send(get(1), frame(DATA, END_STREAM, 0, Buffer.alloc(10_000)))
  await vi.advanceTimersByTimeAsync(LINGER_MS)
  await visitor.served
  expect(visitor.requests).toHaveLength(0)
  expect(visitor.server.isBroken).toBe(true)
  vi.useRealTimers()
})
