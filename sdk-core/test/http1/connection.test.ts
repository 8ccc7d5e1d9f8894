// The life of a connection, RFC 9112 §9: persistence, pipelining, half-close, who leaves when, and every deadline.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { DRAIN_MS, READ_AHEAD_BYTES } from '../../src/http1/limits.ts'
import {
  BODY_STALL_MS,
  HALF_CLOSED_MS,
  HEAD_DEADLINE_MS,
  IDLE_MS,
  LINGER_MS,
  WRITE_BYTES,
  WRITE_STALL_MS,
} from '../../src/semantics/limits.ts'
import { Visitor } from './visitor.ts'

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: site.example\r\n\r\n`
const POST = 'POST / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\n\r\n'
const path: FetchHandler = (request) => new Response(new URL(request.url).pathname)
const never: FetchHandler = () => new Promise<Response>(() => {})
/** Lets everything that does not wait for a timer happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('RFC 9112 §9.3 persistence', () => {
  test('HTTP/1.1 stays open, and closes when the visitor says so', async () => {
    const visitor = await new Visitor(path).send(get('/a'))
    expect(await visitor.receive('/a')).not.toContain('connection:')
    await visitor.send(get('/b').replace('\r\n\r\n', '\r\nConnection: x, CLOSE\r\n\r\n'), get('/c'))
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\n\/b$/)
    expect(visitor.requests).toHaveLength(2)
  })

  test('RFC 9110 §7.8 a declined upgrade: the response, then the end', async () => {
    const visitor = new Visitor(path)
    await visitor.send(
      get('/a').replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
      get('/b'),
    )
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n\r\n\/a$/s)
    expect(visitor.requests).toHaveLength(1)
  })

  test('HTTP/1.0 closes, unless it asks to stay and sees where the response ends', async () => {
    const old = get('/a').replace('1.1', '1.0')
    expect(await (await new Visitor(path).send(old)).rest()).toMatch(/connection: close\r\n\r\n\/a$/)
    const visitor = await new Visitor(path).send(
      old.replace('\r\n\r\n', '\r\nConnection: Keep-Alive\r\n\r\n'),
    )
    expect(await visitor.receive('/a')).toContain('\r\nconnection: keep-alive\r\n')
    await visitor.send(old)
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\n\/a$/)
  })

  test('the end of the visitor ends an idle connection', async () => {
    const visitor = await new Visitor(path).send(get('/a'))
    await visitor.receive('/a')
    await visitor.end()
    expect(await visitor.rest()).toBe('')
    await visitor.served
  })

  test('a connection that breaks ends without a word, idle or not', async () => {
    for (const fetch of [path, never]) {
      const visitor = await new Visitor(fetch).send(fetch === path ? '' : get('/a'))
      await settle()
      visitor.stream.abort(new Error('reset'))
      await visitor.served
      expect(visitor.errors).toEqual([])
    }
  })
})

describe('RFC 9112 §9.3.2 pipelining', () => {
  test('responses come in the order of the requests, one handler at a time', async () => {
    let running = 0
    const visitor = new Visitor(async (request, info) => {
      expect(++running).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, request.url.endsWith('1') ? 20 : 1))
      running--
      return path(request, info)
    })
    await visitor.send(get('/1'), get('/2'), POST, 'hello', get('/3'), get('/4'))
    await visitor.receive('/4')
    expect(visitor.errors).toEqual([])
    expect(visitor.requests.map((request) => new URL(request.url).pathname)).toEqual([
      '/1',
      '/2',
      '/',
      '/3',
      '/4',
    ])
  })

  test('what is behind a malformed request is not read', async () => {
    const visitor = await new Visitor(path).send(get('/1'), 'G@T / HTTP/1.1\r\n\r\n', get('/2'))
    expect(await visitor.rest()).toMatch(/\/1HTTP\/1\.1 400 invalid request line\r\n/)
    expect(visitor.requests).toHaveLength(1)
  })

  test('requests that nobody answers yet stop the visitor within the bound', async () => {
    const visitor = await new Visitor(never).send(get('/1'))
    const many = get('/2').repeat(100)
    let sent = 0
    const sending = (async () => {
      for (;;) {
        await visitor.stream.write(Buffer.from(many))
        sent += many.length
      }
    })()
    await settle()
    await settle()
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThanOrEqual(2 * READ_AHEAD_BYTES + 2 * many.length)
    visitor.stream.abort(new Error('enough'))
    await expect(sending).rejects.toThrow('enough')
  })

  test('all that was sent before a half-close is answered', async () => {
    const visitor = await new Visitor(path).send(get('/1') + get('/2'))
    await visitor.end()
    expect(await visitor.rest()).toMatch(/\/1HTTP.*\/2$/s)
    await visitor.served
  })
})

describe('Request.signal', () => {
  test('aborts when the connection breaks, and a late response is let go', async () => {
    const response = Promise.withResolvers<Response>()
    const visitor = await new Visitor(() => response.promise).send(get('/'))
    await settle()
    const { signal } = visitor.requests[0]!
    expect(signal.aborted).toBe(false)
    visitor.stream.abort(new Error('reset'))
    await visitor.served
    expect(signal.reason).toMatchObject({ name: 'AbortError' })
    const cancelled = Promise.withResolvers<void>()
    response.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })))
    await cancelled.promise
  })

  test('aborts when the visitor ends its direction; a handler that answers all the same is heard', async () => {
    const response = Promise.withResolvers<Response>()
    const visitor = await new Visitor(() => response.promise).send(get('/'))
    await visitor.end()
    await settle()
    expect(visitor.requests[0]!.signal.aborted).toBe(true)
    response.resolve(new Response('all the same'))
    expect(await visitor.rest()).toMatch(/all the same$/)
  })

  test('a handler that fails because of it is no error', async () => {
    const visitor = new Visitor(
      (request) =>
        new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason))
        }),
    )
    await visitor.send(get('/'))
    await settle()
    await visitor.end()
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 500 /)
    expect(visitor.errors).toEqual([])
  })

  test('does not abort for a visitor that stays, also after the response', async () => {
    const visitor = await new Visitor(path).send(get('/a'))
    await visitor.receive('/a')
    await visitor.send(get('/b'))
    await visitor.receive('/b')
    await settle()
    await visitor.end()
    await visitor.served
    expect(visitor.requests.map((request) => request.signal.aborted)).toEqual([false, false])
  })

  test('a response body is cancelled when the connection breaks', async () => {
    const cancelled = Promise.withResolvers<unknown>()
    const visitor = new Visitor(() => new Response(new ReadableStream({ cancel: cancelled.resolve })))
    await visitor.send(get('/'))
    await visitor.receive('\r\n\r\n')
    visitor.stream.abort(new Error('reset'))
    expect(await cancelled.promise).toMatchObject({ message: 'reset' })
    await visitor.served
    expect(visitor.errors).toEqual([])
  })
})

describe('deadlines', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())
  const pass = async (ms: number): Promise<void> => {
    await settle()
    await vi.advanceTimersByTimeAsync(ms)
    await settle()
  }

  test('an idle connection ends without a word, before the first request and after', async () => {
    const fresh = new Visitor(path)
    await pass(IDLE_MS - 1)
    const used = await new Visitor(path).send(get('/a'))
    await used.receive('/a')
    await pass(1)
    expect(await fresh.rest()).toBe('')
    await pass(IDLE_MS - 1)
    expect(await used.rest()).toBe('')
  })

  test('a head that dribbles in gets 408 at its deadline', async () => {
    const visitor = await new Visitor(path).send('GET / HTTP/1.1\r\n')
    for (let i = 0; i < 10; i++) {
      await pass(HEAD_DEADLINE_MS / 10 - 1)
      await visitor.send('A: b\r\n')
    }
    expect(visitor.server.writes).toEqual([])
    await pass(10)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 408 head timeout\r\n.*connection: close\r\n/s)
    expect(visitor.requests).toEqual([])
  })

  test('a body that stalls gets 408; one that goes on slowly does not', async () => {
    const visitor = await new Visitor(async (request) => new Response(await request.text())).send(POST)
    for (const part of 'hell') {
      await pass(BODY_STALL_MS - 1)
      await visitor.send(part)
    }
    expect(visitor.server.writes).toEqual([])
    await pass(BODY_STALL_MS)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 408 /)
    expect(visitor.errors).toEqual([])
  })

  test('no deadline runs while the handler is not reading', async () => {
    const response = Promise.withResolvers<Response>()
    const visitor = await new Visitor(() => response.promise).send(POST)
    await pass(10 * BODY_STALL_MS)
    response.resolve(new Response('ok'))
    expect(await visitor.receive('ok')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('a rest of a body that nobody reads and that does not come ends the connection', async () => {
    const visitor = await new Visitor(path).send(`${POST}hell`)
    expect(await visitor.receive('/')).not.toContain('connection: close')
    await pass(DRAIN_MS)
    expect(await visitor.rest()).not.toContain('HTTP/1.1')
  })

  test('a visitor that takes no bytes is dropped, and the body cancelled', async () => {
    const cancelled = Promise.withResolvers<unknown>()
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(WRITE_BYTES)),
      cancel: cancelled.resolve,
    })
    const visitor = await new Visitor(() => new Response(body)).send(get('/'))
    await pass(WRITE_STALL_MS - 1)
    expect(visitor.stream.isBroken).toBe(false)
    await pass(1)
    expect(visitor.stream.isBroken).toBe(true)
    expect(await cancelled.promise).toMatchObject({ code: 'visitor_stalled' })
    expect(visitor.requests[0]!.signal.aborted).toBe(true)
    await visitor.served
  })

  test('a half-closed visitor is dropped when nothing comes for it, and kept while something does', async () => {
    const idle = await new Visitor(never).send(get('/'))
    await idle.end()
    let events!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        events = controller
      },
    })
    const busy = await new Visitor(() => new Response(body)).send(get('/'))
    await busy.end()
    for (let i = 0; i < 5; i++) {
      await pass(HALF_CLOSED_MS - 1)
      expect(idle.stream.isBroken).toBe(i > 0)
      events.enqueue(new Uint8Array(1))
    }
    await pass(HALF_CLOSED_MS - 1)
    expect(busy.stream.isBroken).toBe(false)
    await pass(1)
    expect(busy.stream.isBroken).toBe(true)
    await Promise.all([idle.served, busy.served])
  })

  test('§9.6 after the last response the visitor has some time to end its direction, too', async () => {
    const visitor = await new Visitor(path).send('nonsense\r\n')
    await visitor.rest()
    await visitor.send('more that it sends before it sees the answer')
    await pass(LINGER_MS - 1)
    expect(visitor.stream.isBroken).toBe(false)
    await pass(1)
    expect(visitor.stream.isBroken).toBe(true)
    await visitor.served
  })

  test('no timer is left when a connection is over', async () => {
    const visitor = await new Visitor(path).send(get('/a'))
    await visitor.receive('/a')
    await visitor.end()
    await visitor.served
    expect(vi.getTimerCount()).toBe(0)
  })
})
