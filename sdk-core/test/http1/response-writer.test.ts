// Responses, RFC 9112 §4, §6, §7 and RFC 9110 §6, §15: literal bytes for what a handler returns.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { WRITE_BYTES } from '../../src/semantics/limits.ts'
import { converse, latin1, Visitor } from './visitor.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'
const OLD = GET.replace('1.1', '1.0')

/** A body that comes later than the response. */
function slowly(...chunks: (string | Uint8Array)[]): ReadableStream {
  return new ReadableStream(
    {
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(typeof chunk === 'string' ? latin1.encode(chunk) : chunk)
      },
    },
    { highWaterMark: 0 },
  )
}

describe('RFC 9110 §6.6.1 Date', () => {
  afterEach(() => void vi.useRealTimers())

  test('is IMF-fixdate, of now, and the handler’s own when it has one', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(1994, 10, 6, 8, 49, 37, 999) })
    const visitor = await new Visitor().send(GET)
    await visitor.receive('ok')
    expect(latin1.decode(visitor.server.writes[0]!)).toContain('\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n')
    vi.setSystemTime(Date.UTC(1994, 10, 6, 8, 49, 38))
    await visitor.send(GET)
    await visitor.receive('ok')
    expect(latin1.decode(visitor.server.writes[1]!)).toContain('\r\ndate: Sun, 06 Nov 1994 08:49:38 GMT\r\n')
    const own = await converse(GET, () => new Response('ok', { headers: { date: 'then' } }))
    expect(own.match(/date: /g)).toHaveLength(1)
  })
})

describe('status line and fields', () => {
  test('reason phrase of the handler, of the registry, or none', async () => {
    const statusLine = async (init: ResponseInit): Promise<string> =>
      (await converse(GET, () => new Response('ok', init))).split('\r\n')[0]!
    expect(await statusLine({ status: 404 })).toBe('HTTP/1.1 404 Not Found')
    expect(await statusLine({ status: 200, statusText: 'Gut gem\xe4cht' })).toBe(
      'HTTP/1.1 200 Gut gem\xe4cht',
    )
    expect(await statusLine({ status: 299 })).toBe('HTTP/1.1 299 ')
  })

  test('values are octets; each Set-Cookie has its own line', async () => {
    const headers = new Headers({ 'x-name': 'gr\xfc\xdfe' })
    headers.append('set-cookie', 'a=b; Path=/')
    headers.append('set-cookie', 'c=d')
    expect(await converse(GET, () => new Response(null, { headers }))).toBe(
      'HTTP/1.1 200 OK\r\nset-cookie: a=b; Path=/\r\nset-cookie: c=d\r\nx-name: gr\xfc\xdfe\r\ncontent-length: 0\r\n\r\n',
    )
  })

  test('a Response with headers of its own can set cookies where the platform’s drops them', async () => {
    const response = new Response(null)
    Object.defineProperty(response, 'headers', { value: new Headers({ 'set-cookie': 'a=b' }) })
    expect(await converse(GET, () => response)).toBe(
      'HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n',
    )
  })

  test('RFC 9110 §7.6.1 fields of the connection are not the handler’s', async () => {
    const headers = {
      connection: 'x-a',
      'keep-alive': 'timeout=1000',
      'proxy-connection': 'keep-alive',
      te: 'trailers',
      trailer: 'x-a',
      'transfer-encoding': 'gzip',
      upgrade: 'h2c',
    }
    expect(await converse(GET, () => new Response(null, { headers }))).toBe(
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    )
  })

  test('Connection: close of the handler closes', async () => {
    const visitor = new Visitor(() => new Response('ok', { headers: { connection: 'x-a, Close' } }))
    await visitor.send(GET)
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\nok$/)
  })
})

describe('RFC 9112 §6 framing', () => {
  test.each<[string, () => BodyInit]>([
    ['a string', () => 'hello'],
    ['bytes', () => new TextEncoder().encode('hello')],
    ['a form', () => new URLSearchParams({ hell: 'o' })],
    [
      'a stream that ends at once',
      () =>
        new ReadableStream({
          start(controller) {
            for (const part of ['he', '', 'llo']) controller.enqueue(latin1.encode(part))
            controller.close()
          },
        }),
    ],
  ])('%s: Content-Length, and one write with the head', async (_, body) => {
    const visitor = await new Visitor(() => new Response(body())).send(GET)
    expect(await visitor.receive('o')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: \d\r\n\r\nhell=?o$/s)
    expect(visitor.server.writes).toHaveLength(1)
  })

  test('large bytes keep their length and leave in bounded writes', async () => {
    const size = 3 * WRITE_BYTES + 1
    const visitor = await new Visitor(() => new Response(new Uint8Array(size).fill(0x61))).send(GET)
    await visitor.end()
    const answer = await visitor.rest()
    expect(answer.slice(0, -size)).toBe(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
    expect(visitor.server.writes).toHaveLength(4)
    expect(Math.max(...visitor.server.writes.map((bytes) => bytes.length))).toBeLessThan(WRITE_BYTES + 1024)
  })

  test('a stream: chunked, the head not held back, an empty chunk never sent', async () => {
    const visitor = await new Visitor(() => new Response(slowly('hello', '', 'x'.repeat(16)))).send(GET)
    expect(await visitor.receive('\r\n\r\n')).toBe('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    expect(await visitor.receive('0\r\n\r\n')).toBe(`5\r\nhello\r\n10\r\n${'x'.repeat(16)}\r\n0\r\n\r\n`)
  })

  test('server-sent events: each event leaves when it is there', async () => {
    let events!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        events = controller
      },
    })
    const visitor = await new Visitor(() => new Response(body)).send(GET)
    await visitor.receive('\r\n\r\n')
    for (const data of ['one', 'two']) {
      events.enqueue(latin1.encode(`data: ${data}\n\n`))
      expect(await visitor.receive('\n\n\r\n')).toBe(`b\r\ndata: ${data}\n\n\r\n`)
    }
  })

  test('large chunks of a stream are cut, each with its own size', async () => {
    const visitor = await new Visitor(
      () => new Response(slowly(new Uint8Array(WRITE_BYTES + 1).fill(0x61))),
    ).send(GET)
    const answer = await visitor.receive('0\r\n\r\n')
    expect(answer).toContain(`\r\n\r\n10000\r\n${'a'.repeat(WRITE_BYTES)}\r\n1\r\na\r\n0\r\n\r\n`)
  })

  test('§6.3 HTTP/1.0 gets no chunks: the end of the connection ends the body', async () => {
    const visitor = await new Visitor(() => new Response(slowly('hello', 'again'))).send(OLD)
    expect(await visitor.rest()).toBe('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhelloagain')
  })

  test('a declared Content-Length is kept, with bytes as they are', async () => {
    const respond = (): Response => new Response(slowly('hel', 'lo'), { headers: { 'content-length': '5' } })
    const visitor = await new Visitor(respond).send(GET)
    expect(await visitor.receive('hello')).toBe('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
    await visitor.send(GET)
    expect(await visitor.receive('hello')).toBe('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
  })

  test.each([
    ['more', ['x'.repeat(WRITE_BYTES), 'x']],
    ['fewer', ['x'.repeat(WRITE_BYTES - 1)]],
  ])(
    '%s bytes than declared: the connection is aborted and the handler’s error reported',
    async (_, chunks) => {
      const headers = { 'content-length': String(WRITE_BYTES) }
      const visitor = await new Visitor(() => new Response(slowly(...chunks), { headers })).send(GET)
      await expect(visitor.rest()).rejects.toMatchObject({ code: 'content_length_mismatch' })
      await visitor.served
      expect(visitor.errors).toMatchObject([{ code: 'content_length_mismatch' }])
    },
  )

  test.each([
    ['more', 'hello!'],
    ['fewer', 'hell'],
    ['some in place of none', 'hello', '0'],
  ])(
    '%s bytes than declared, which a platform gives late, are 500 as well',
    async (_, chunk, length = '5') => {
      const headers = { 'content-length': length }
      const visitor = await new Visitor(() => new Response(slowly(chunk), { headers })).send(GET)
      expect(await visitor.receive('Internal Server Error', 2)).toMatch(/^HTTP\/1\.1 500 /)
      expect(visitor.errors).toMatchObject([{ code: 'content_length_mismatch' }])
    },
  )

  test('a body that is waited for ends when the visitor leaves', async () => {
    const cancelled = Promise.withResolvers<void>()
    const body = new ReadableStream({ cancel: () => cancelled.resolve() })
    const visitor = await new Visitor(() => new Response(body, { headers: { 'content-length': '5' } })).send(
      GET,
    )
    await expect.poll(() => visitor.requests.length).toBe(1)
    visitor.stream.abort(new Error('gone'))
    await cancelled.promise
    await visitor.served
    expect(visitor.errors).toEqual([])
  })

  test.each([
    ['more than it says', 'hello!', '5'],
    ['fewer than it says', 'hell', '5'],
    ['no number', 'hello', '+5'],
    ['two numbers', 'hello', '5, 5'],
    ['without a body', null, '5'],
  ])('a wrong Content-Length that is seen in time is a 500: %s', async (_, body, length) => {
    const respond = (): Response => new Response(body, { headers: { 'content-length': length } })
    const visitor = await new Visitor(respond).send(GET)
    expect(await visitor.receive('Error')).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/)
    expect(visitor.errors).toMatchObject([{ code: 'content_length_mismatch' }])
  })

  test('RFC 9110 §9.3.2 HEAD: the fields of GET and no body, which is cancelled', async () => {
    let cancelled = false
    const body = new ReadableStream({
      cancel() {
        cancelled = true
      },
    })
    const visitor = new Visitor(() => new Response(body, { headers: { 'content-length': '5' } }))
    await visitor.send(GET.replace('GET', 'HEAD'))
    expect(await visitor.receive('\r\n\r\n')).toBe('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n')
    expect(cancelled).toBe(true)
    await visitor.end()
    expect(await visitor.rest()).toBe('')
  })

  test('RFC 9110 §15.3.5, §15.4.5: 204 has neither body nor length, 304 no body', async () => {
    const status = (code: number) => (): Response =>
      new Response(null, { status: code, headers: { 'content-length': '5', etag: '"a"' } })
    expect(await converse(GET, status(204))).toBe('HTTP/1.1 204 No Content\r\netag: "a"\r\n\r\n')
    expect(await converse(GET, status(304))).toBe(
      'HTTP/1.1 304 Not Modified\r\netag: "a"\r\ncontent-length: 5\r\n\r\n',
    )
  })

  test('a response of fetch is handed on decoded, so without its Content-Encoding and Content-Length', async () => {
    const packed = gzipSync('hello'.repeat(100))
    const upstream = createServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length, 'x-a': 'b' })
      response.end(packed)
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const { port } = upstream.address() as AddressInfo
    const visitor = await new Visitor(() => fetch(`http://127.0.0.1:${port}`)).send(GET)
    const answer = await visitor.receive('0\r\n\r\n')
    expect(answer).toContain('hello'.repeat(100))
    expect(answer).toContain('\r\nx-a: b\r\n')
    expect(answer).not.toMatch(/content-encoding|content-length/)
    upstream.closeAllConnections()
    upstream.close()
  })

  test('no body at all has length 0', async () => {
    expect(await converse(GET, () => new Response())).toBe('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
})

describe('a visitor that reads slowly stops the handler', () => {
  test('the body is pulled only as it is taken', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(WRITE_BYTES))
        },
      },
      { highWaterMark: 0 },
    )
    const visitor = await new Visitor(() => new Response(body)).send(GET)
    await new Promise((resolve) => setTimeout(resolve, 20))
    // One that is written, what the stream holds, and one ahead.
    expect(pulled).toBeLessThanOrEqual(4)
    const before = pulled
    for (let i = 0; i < 20; i++) await visitor.stream.read()
    expect(pulled).toBeGreaterThan(before + 10)
    visitor.stream.abort()
  })
})

describe('handlers that fail', () => {
  const fails: [string, FetchHandler][] = [
    [
      'throw',
      () => {
        throw new Error('secret')
      },
    ],
    ['reject', () => Promise.reject(new Error('secret'))],
    ['return nothing', () => undefined as unknown as Response],
    ['return something else', () => 'secret' as unknown as Response],
    ['return an error response', () => Response.error()],
    [
      'have a body that fails at once',
      () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error('secret')) })),
    ],
    [
      'return a response that was read',
      async () => {
        const response = new Response('secret')
        await response.text()
        return response
      },
    ],
    [
      'have a body of strings',
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue('secret')
            },
          }),
        ),
    ],
  ]
  test.each(fails)(
    '%s: 500 without details, the error reported, the connection goes on',
    async (_, fetch) => {
      let calls = 0
      const visitor = new Visitor((request, info) =>
        calls++ === 0 ? fetch(request, info) : new Response('ok'),
      )
      await visitor.send(GET)
      expect(await visitor.receive('Server Error', 2)).toBe(
        'HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain;charset=UTF-8\r\ncontent-length: 21\r\n\r\nInternal Server Error',
      )
      expect(visitor.errors).toHaveLength(1)
      await visitor.send(GET)
      expect(await visitor.receive('ok')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    },
  )

  test('a body that fails on its way: the connection is aborted, the error reported', async () => {
    let calls = 0
    const failure = new Error('secret')
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        if (calls++ > 0) throw failure
        controller.enqueue(latin1.encode('hello'))
      },
    })
    const visitor = await new Visitor(() => new Response(body)).send(GET)
    await expect(visitor.rest()).rejects.toBe(failure)
    await visitor.served
    expect(visitor.errors).toEqual([failure])
  })

  test('HSTS (RFC 6797) is added where the site sends it and the handler sets none', async () => {
    const field = 'strict-transport-security'
    const answerOf = async (own: string | undefined, hsts: string | undefined): Promise<string> => {
      const headers = new Headers(own === undefined ? {} : { [field]: own })
      const visitor = await new Visitor(() => new Response('ok', { headers }), { hsts }).send(GET)
      const answer = await visitor.receive('ok')
      return /strict-transport-security: (.*)\r\n/.exec(answer)?.[1] ?? answer
    }
    expect(await answerOf(undefined, 'max-age=1')).toBe('max-age=1')
    expect(await answerOf('max-age=0', 'max-age=1')).toBe('max-age=0')
    expect(await answerOf(undefined, undefined)).not.toContain(field)
  })

  test('what waitUntil watches is reported when it fails', async () => {
    const failure = new Error('late')
    const visitor = new Visitor((_, info) => {
      info.waitUntil(Promise.reject(failure))
      info.waitUntil(Promise.resolve())
      return new Response(info.canonicalUrl)
    })
    await visitor.send(GET)
    expect(await visitor.receive('example/')).toMatch(/https:\/\/site\.example\/$/)
    expect(visitor.errors).toEqual([failure])
  })
})
