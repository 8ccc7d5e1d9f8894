// Request bodies, RFC 9112 §6 and §7: how long they are, how they are decoded, and who waits for whom.

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import {
  CHUNK_EXTENSIONS_BYTES,
  CHUNK_LINE_BYTES,
  CHUNK_SIZE_DIGITS,
  DRAIN_BYTES,
  READ_AHEAD_BYTES,
  READ_ON_MS,
  TRAILER_FIELDS,
  TRAILERS_BYTES,
} from '../../src/http1/limits.ts'
import { converse, latin1, refusalOf, Visitor } from './visitor.ts'

const POST = 'POST / HTTP/1.1\r\nHost: site.example\r\n'
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`
const NEXT = 'GET /next HTTP/1.1\r\nHost: site.example\r\n\r\n'
const echo = async (request: Request): Promise<Response> => new Response(await request.text())

/** What the handler got as its body. */
async function bodyOf(bytes: string): Promise<string> {
  const answer = await converse(bytes, echo)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

/** The status of the answer when the handler reads the body. */
async function statusOf(bytes: string): Promise<number> {
  const visitor = await new Visitor(echo).send(bytes)
  const answer = await visitor.rest()
  expect(answer).toContain('\r\nconnection: close\r\n')
  expect(visitor.errors).toEqual([])
  return Number(answer.slice(9, 12))
}

describe('RFC 9112 §6.3 message body length', () => {
  test('Content-Length', async () => {
    expect(await bodyOf(`${POST}Content-Length: 5\r\n\r\nhello`)).toBe('hello')
    expect(await bodyOf(`${POST}Content-Length: 05\r\n\r\nhello`)).toBe('hello')
  })

  test('a POST with neither field, or of length 0, has no body', async () => {
    expect(await bodyOf(`${POST}\r\n`)).toBe('')
    expect(await bodyOf(`${POST}Content-Length: 0\r\n\r\n`)).toBe('')
  })

  test.each([
    ['a sign', 'Content-Length: +5', 400],
    ['a negative number', 'Content-Length: -5', 400],
    ['hexadecimal', 'Content-Length: 0x5', 400],
    ['empty', 'Content-Length:', 400],
    ['white space inside', 'Content-Length: 5 5', 400],
    ['a list', 'Content-Length: 5, 5', 400],
    ['repeated, the same', 'Content-Length: 5\r\nContent-Length: 5', 400],
    ['repeated, another', 'Content-Length: 5\r\nContent-Length: 6', 400],
    ['a fraction', 'Content-Length: 5.0', 400],
    ['a superscript digit', 'Content-Length: \xb2', 400],
    ['more than can be counted', 'Content-Length: 9007199254740992', 413],
    ['with Transfer-Encoding', 'Content-Length: 5\r\nTransfer-Encoding: chunked', 400],
    ['with Transfer-Encoding in front', 'Transfer-Encoding: chunked\r\nContent-Length: 5', 400],
    ['an unknown coding', 'Transfer-Encoding: xchunked', 400],
    ['identity', 'Transfer-Encoding: identity', 400],
    ['chunked not last', 'Transfer-Encoding: chunked, gzip', 400],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 501],
    ['a coding that is not spoken', 'Transfer-Encoding: gzip, chunked', 501],
    ['an empty coding', 'Transfer-Encoding:', 400],
    ['quoted', 'Transfer-Encoding: "chunked"', 400],
    ['VT before it', 'Transfer-Encoding: \x0bchunked', 400],
    ['NBSP before it', 'Transfer-Encoding: \xa0chunked', 400],
    ['a parameter', 'Transfer-Encoding: chunked;a=b', 400],
    ['an empty list member', 'Transfer-Encoding: ,chunked', 400],
  ])('refused: %s', async (_, fields, status) => {
    expect(await refusalOf(`${POST}${fields}\r\n\r\n0\r\n\r\n`)).toBe(status)
  })

  test('§6.1 Transfer-Encoding in HTTP/1.0 is refused', async () => {
    expect(
      await refusalOf('POST / HTTP/1.0\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    ).toBe(400)
  })

  test.each(['GET', 'HEAD'])('RFC 9110 §9.3.1: a %s with content reaches the handler', async (method) => {
    const bodies: unknown[] = []
    const fetch = async (request: Request): Promise<Response> => {
      const copy = request.clone()
      bodies.push([request.method, request.body && (await request.text()), await copy.text()])
      return new Response()
    }
    const head = `${method} / HTTP/1.1\r\nHost: site.example\r\n`
    const visitor = await new Visitor(fetch).send(
      `${head}Content-Length: 5\r\n\r\nhello`,
      `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
      `${head}Content-Length: 0\r\n\r\n`,
    )
    await visitor.receive('HTTP/1.1 200 OK', 3)
    expect(bodies).toEqual([
      [method, 'hello', 'hello'],
      [method, 'hi', 'hi'],
      [method, null, ''],
    ])
  })

  test('a body that the visitor ends early is refused and tells the handler', async () => {
    const visitor = await new Visitor(echo).send(`${POST}Content-Length: 5\r\n\r\nhell`)
    await visitor.end()
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 400 /)
    expect(visitor.requests[0]?.signal.aborted).toBe(true)
  })
})

describe('RFC 9112 §7.1 chunked coding', () => {
  test.each([
    [
      'chunks in either case, with leading zeros',
      '5\r\nhello\r\n0A\r\n, visitor!\r\n0\r\n\r\n',
      'hello, visitor!',
    ],
    ['an empty body', '0\r\n\r\n', ''],
    ['many zeros end it, too', '0000\r\n\r\n', ''],
    ['CRLF in the data', '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n'],
    ['extensions', '5;a;b=c;d="e;\\"f"\r\nhello\r\n0;x\r\n\r\n', 'hello'],
    ['trailers', '5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n', 'hello'],
  ])('%s', async (_, body, text) => {
    expect(await bodyOf(CHUNKED + body)).toBe(text)
    const visitor = await new Visitor(echo).send(...(CHUNKED + body))
    expect(await visitor.receive(`\r\n\r\n${text}`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('the name of the coding is case-insensitive', async () => {
    expect(await bodyOf(`${POST}Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`)).toBe('a')
  })

  test.each([
    ['a sign', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
    ['0x', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['white space before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['white space after the size', '5 \r\nhello\r\n0\r\n\r\n'],
    ['white space before an extension', '5 ;a\r\nhello\r\n0\r\n\r\n'],
    ['no size', '\r\nhello\r\n0\r\n\r\n'],
    ['an extension without a name', '5;\r\nhello\r\n0\r\n\r\n'],
    ['a control character in an extension', '5;a="\x01"\r\nhello\r\n0\r\n\r\n'],
    ['bare CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
    ['bare LF after the data', '5\r\nhello\n0\r\n\r\n'],
    ['bare LF after an extension (CVE-2025-22871)', '5;a\nhello\r\n0\r\n\r\n'],
    ['data longer than its size', '5\r\nhelloo\r\n0\r\n\r\n'],
    ['data shorter than its size', '5\r\nhell\r\n0\r\n\r\n'],
    ['no CRLF after the data', '5\r\nhello0\r\n\r\n'],
    ['bare LF ends the trailers', '0\r\n\n'],
    ['a malformed trailer', '0\r\nA : b\r\n\r\n'],
    ['a folded trailer', '0\r\nA: b\r\n c\r\n\r\n'],
    ['framing in a trailer', '0\r\nContent-Length: 5\r\n\r\n'],
    ['routing in a trailer', '0\r\nHost: site.example\r\n\r\n'],
  ])('refused: %s', async (_, body) => {
    expect(await statusOf(CHUNKED + body)).toBe(400)
  })

  test('chunk size: as many digits as are allowed, and one more', async () => {
    expect(await bodyOf(`${CHUNKED}${'0'.repeat(CHUNK_SIZE_DIGITS - 1)}1\r\na\r\n0\r\n\r\n`)).toBe('a')
    expect(await statusOf(`${CHUNKED}${'0'.repeat(CHUNK_SIZE_DIGITS)}1\r\na\r\n0\r\n\r\n`)).toBe(400)
    expect(await statusOf(`${CHUNKED}${'f'.repeat(CHUNK_SIZE_DIGITS + 1)}\r\na`)).toBe(400)
  })

  test('chunk line: as long as is allowed, and one more', async () => {
    const extension = 'a'.repeat(CHUNK_LINE_BYTES - 2)
    expect(await bodyOf(`${CHUNKED}1;${extension}\r\na\r\n0\r\n\r\n`)).toBe('a')
    expect(await statusOf(`${CHUNKED}1;${extension}a\r\na\r\n0\r\n\r\n`)).toBe(400)
    expect(await statusOf(`${CHUNKED}${'1'.repeat(CHUNK_LINE_BYTES + 2)}`)).toBe(400)
  })

  test('chunk extensions of one body: as much as is allowed, and more', async () => {
    const chunk = `1;${'a'.repeat(127)}\r\na\r\n`
    const count = CHUNK_EXTENSIONS_BYTES / 128
    expect(await bodyOf(`${CHUNKED}${chunk.repeat(count)}0\r\n\r\n`)).toBe('a'.repeat(count))
    expect(await statusOf(`${CHUNKED}${chunk.repeat(count + 1)}0\r\n\r\n`)).toBe(400)
  })

  test('trailers: as large as is allowed, and one more; as many as are allowed, and one more', async () => {
    const value = 'b'.repeat(TRAILERS_BYTES - 'A: \r\n'.length)
    expect(await bodyOf(`${CHUNKED}0\r\nA: ${value}\r\n\r\n`)).toBe('')
    expect(await statusOf(`${CHUNKED}0\r\nA: ${value}b\r\n\r\n`)).toBe(431)
    expect(await statusOf(`${CHUNKED}0\r\n${'a'.repeat(TRAILERS_BYTES + 2)}`)).toBe(431)
    expect(await bodyOf(`${CHUNKED}0\r\n${'A: b\r\n'.repeat(TRAILER_FIELDS)}\r\n`)).toBe('')
    expect(await statusOf(`${CHUNKED}0\r\n${'A: b\r\n'.repeat(TRAILER_FIELDS + 1)}\r\n`)).toBe(431)
  })

  test('a malformed body is refused even when the handler makes a response of it', async () => {
    const visitor = new Visitor((request) =>
      request.text().then(
        () => new Response('fine'),
        () => new Response('still fine'),
      ),
    )
    await visitor.send(`${CHUNKED}x\r\n`)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('tiny chunks that are here together are one read of the handler', async () => {
    let reads = 0
    const visitor = new Visitor(async (request) => {
      for await (const _ of request.body!) reads++
      return new Response('ok')
    })
    await visitor.send(`${CHUNKED}${'1\r\na\r\n'.repeat(5000)}0\r\n\r\n`)
    await visitor.receive('ok')
    expect(reads).toBe(1)
  })
})

describe('RFC 9110 §10.1.1 Expect', () => {
  const EXPECT = `${POST}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`

  test('100 is sent when the handler reads, not before', async () => {
    const gate = Promise.withResolvers<void>()
    const visitor = new Visitor(async (request) => {
      await gate.promise
      return echo(request)
    })
    await visitor.send(EXPECT)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(visitor.server.writes).toEqual([])
    gate.resolve()
    expect(await visitor.receive('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    await visitor.send('hello')
    expect(await visitor.receive('hello')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  test('the value is case-insensitive', async () => {
    const visitor = await new Visitor(echo).send(EXPECT.replace('100-continue', '100-Continue'))
    expect(await visitor.receive('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  })

  test('a response without reading is final, and the connection closes: the body may come or not', async () => {
    const visitor = await new Visitor(() => new Response('no', { status: 403 })).send(EXPECT)
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n.*connection: close\r\n\r\nno$/s)
  })

  test('no 100 when the body is here already, when there is none, or to HTTP/1.0', async () => {
    expect(await converse(`${EXPECT}hello`, echo)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await converse(`${POST}Expect: 100-continue\r\n\r\n`, echo)).toMatch(/^HTTP\/1\.1 200 /)
    const visitor = await new Visitor(echo).send(EXPECT.replace('HTTP/1.1', 'HTTP/1.0'))
    await visitor.send('hello')
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each(['200-ok', '', '100-continue, 200-ok', '100-continue;a=b'])('417 for %j', async (value) => {
    expect(await refusalOf(`${POST}Content-Length: 5\r\nExpect: ${value}\r\n\r\n`)).toBe(417)
  })
})

describe('back-pressure and what is left unread', () => {
  test('a handler that does not read stops the visitor within the bound', async () => {
    const gate = Promise.withResolvers<void>()
    const visitor = new Visitor(async (request) => {
      await gate.promise
      const bytes = await request.arrayBuffer()
      return new Response(`${bytes.byteLength} read`)
    })
    await visitor.send(`${POST}Content-Length: ${16 * READ_AHEAD_BYTES}\r\n\r\n`)
    const piece = new Uint8Array(READ_AHEAD_BYTES / 4)
    let sent = 0
    const sending = (async () => {
      for (; sent < 64; sent++) await visitor.stream.write(piece)
    })()
    await new Promise((resolve) => setTimeout(resolve, 20))
    // What the server reads ahead and what the stream holds, of 1 MiB.
    expect(sent).toBeGreaterThan(0)
    expect(sent * piece.length).toBeLessThanOrEqual(3 * READ_AHEAD_BYTES)
    gate.resolve()
    await sending
    expect(await visitor.receive('read')).toContain(`${16 * READ_AHEAD_BYTES} read`)
  })

  test('large chunks that are here together reach the handler, although one behind them is malformed', async () => {
    const size = 8192
    const chunk = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`
    let got = 0
    const visitor = new Visitor(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 20)) // by then all is here
      for await (const bytes of request.body ?? []) got += bytes.length
      return new Response('ok')
    })
    await visitor.send(CHUNKED, chunk, chunk, chunk, 'no size\r\n')
    expect(await visitor.receive('HTTP/1.1 400')).toContain('400')
    // The last one was read together with the error.
    expect(got).toBe(2 * size)
  })

  test('an unread body in many pieces is read away at once', async () => {
    const visitor = new Visitor()
    const piece = 'a'.repeat(8192)
    await visitor.send(`${POST}Content-Length: ${8 * piece.length}\r\n\r\n`, ...Array(8).fill(piece))
    await visitor.send('GET /next HTTP/1.1\r\nHost: site.example\r\n\r\n')
    await visitor.receive('ok', 2)
    expect(visitor.requests[1]?.url).toBe('https://site.example/next')
  })

  test('a small unread body is read away and the connection goes on', async () => {
    const visitor = new Visitor()
    const body = 'a'.repeat(DRAIN_BYTES)
    await visitor.send(`${POST}Content-Length: ${body.length}\r\n\r\n`)
    expect(await visitor.receive('ok')).not.toContain('connection: close')
    await visitor.send(body, 'GET /next HTTP/1.1\r\nHost: site.example\r\n\r\n')
    await visitor.receive('ok')
    expect(visitor.requests[1]?.url).toBe('https://site.example/next')
  })

  test('a large one, or one of unknown size, closes the connection after the response', async () => {
    const visitor = await new Visitor().send(`${POST}Content-Length: ${DRAIN_BYTES + 1}\r\n\r\n`)
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\nok$/)
    const other = await new Visitor().send(CHUNKED, '5\r\nhello\r\n')
    expect(await other.rest()).toMatch(/connection: close\r\n\r\nok$/)
  })

  test('a body that was begun and left is read away within the budget only', async () => {
    const fetch = async (request: Request): Promise<Response> => {
      await request.body!.getReader().read()
      return new Response('ok')
    }
    const visitor = await new Visitor(fetch).send(CHUNKED, '5\r\nhello\r\n')
    expect(await visitor.receive('ok')).not.toContain('connection: close')
    const chunk = `1000\r\n${'a'.repeat(0x1000)}\r\n`
    const sending = visitor.send(chunk.repeat(DRAIN_BYTES / 0x1000 + 1))
    expect(await visitor.rest()).toBe('')
    await visitor.end()
    await sending
    await visitor.served
  })

  test('a handler that answers early reads on, and the next request follows', async () => {
    const body = 'a'.repeat(DRAIN_BYTES * 4)
    const texts: string[] = []
    const fetch: FetchHandler = (request, info) => {
      if (request.method === 'POST') info.waitUntil(request.text().then((text) => texts.push(text)))
      return new Response('ok', { status: 202 })
    }
    const visitor = await new Visitor(fetch).send(`${POST}Content-Length: ${body.length}\r\n\r\n`)
    expect(await visitor.receive('ok')).not.toContain('connection: close')
    await visitor.send(body, NEXT)
    await visitor.receive('ok')
    expect(texts).toEqual([body])
    await visitor.send(CHUNKED, `5\r\nhello\r\n0\r\n\r\n`, NEXT)
    await visitor.receive('ok', 2)
    expect(texts[1]).toBe('hello')
    expect(visitor.errors).toEqual([])
  })

  test('a visitor that closes after the response may still send the body', async () => {
    const body = 'a'.repeat(DRAIN_BYTES * 4)
    const text = Promise.withResolvers<string>()
    const visitor = new Visitor((request, info) => {
      info.waitUntil(request.text().then(text.resolve, text.reject))
      return new Response('ok', { status: 202 })
    })
    await visitor.send(`${POST}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`)
    await visitor.receive('ok')
    await visitor.send(body)
    expect(await text.promise).toBe(body)
    expect(await visitor.rest()).toBe('')
  })

  test('a handler that reads no more for a while after the response has lost the rest of the body', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    let first: Promise<unknown> | undefined
    const visitor = new Visitor((request) => {
      if (request.method === 'GET') return new Response('next')
      reader = request.body!.getReader()
      first = reader.read()
      return new Response('ok')
    })
    await visitor.send(`${POST}Content-Length: 8\r\n\r\n`)
    await visitor.receive('ok')
    await visitor.send('hel')
    expect(await first).toEqual({ done: false, value: latin1.encode('hel') })
    await vi.advanceTimersByTimeAsync(READ_ON_MS - 1)
    await visitor.send('lo')
    expect(await reader?.read()).toEqual({ done: false, value: latin1.encode('lo') })
    await visitor.send('sir', NEXT)
    await vi.advanceTimersByTimeAsync(READ_ON_MS)
    await visitor.receive('next')
    await expect(reader?.read()).rejects.toMatchObject({ code: 'content_discarded' })
  })

  test('a handler that cancels the body after the response waits for nothing', async () => {
    const visitor = new Visitor((request) => {
      if (request.method === 'GET') return new Response('next')
      const reader = request.body!.getReader()
      reader.read()
      setTimeout(() => reader.cancel())
      return new Response('ok')
    })
    await visitor.send(`${POST}Content-Length: 5\r\n\r\n`)
    await visitor.receive('ok')
    await visitor.send('hello', NEXT)
    await visitor.receive('next')
  })

  test('what a handler does to the memory of its chunks does not reach the bytes behind them', async () => {
    const visitor = new Visitor(async (request) => {
      for await (const bytes of request.body ?? []) structuredClone(bytes, { transfer: [bytes.buffer] })
      return new Response('ok')
    })
    const next = 'GET /next HTTP/1.1\r\nHost: site.example\r\n\r\n'
    await visitor.send(
      latin1.encode(`${POST}Content-Length: 5\r\n\r\nhello${CHUNKED}5\r\nhello\r\n0\r\n\r\n${next}`),
    )
    await visitor.end()
    expect((await visitor.rest()).match(/ 200 OK/g)).toHaveLength(3)
    expect(visitor.requests[2]?.url).toBe('https://site.example/next')
  })
})
