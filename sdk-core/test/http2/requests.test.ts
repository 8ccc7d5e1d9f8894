// Requests and responses, RFC 9113 §8: what a handler gets to see, what it never does, and what its answer becomes.

import { describe, expect, test } from 'vitest'
import { STREAMS_MAX } from '../../src/http2/limits.ts'
import { HEAD_BYTES, HEAD_FIELDS, WRITE_BYTES } from '../../src/semantics/limits.ts'
import { settle, Visitor } from './visitor.ts'
import {
  block,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Fields,
  frame,
  GET,
  get,
  HEADERS,
  post,
  request,
  reset,
  WHOLE,
} from './wire.ts'

const head = (id: number, fields: Fields): Buffer => frame(HEADERS, WHOLE, id, block(fields))

describe('§8.3 a request', () => {
  test('is what the handler gets', async () => {
    const visitor = await Visitor.open(async (request) => {
      const { method, url, headers } = request
      return Response.json([method, url, [...headers], await request.text()])
    })
    const fields = { ':path': '/a?b=c', accept: '*/*', 'x-octets': 'gr\xfc\xdfe', 'content-length': '5' }
    await visitor.send(post(1, fields), frame(DATA, 0, 1, 'he'), frame(DATA, END_STREAM, 1, 'llo'))
    const { body } = await visitor.response(1)
    expect(JSON.parse(Buffer.from(body, 'latin1').toString())).toEqual([
      'POST',
      'https://site.example/a?b=c',
      [
        ['accept', '*/*'],
        ['content-length', '5'],
        ['host', 'site.example'],
        ['x-octets', 'gr\xfc\xdfe'],
      ],
      'hello',
    ])
  })

  test('§8.2.3 has its cookies in one piece', async () => {
    const visitor = await Visitor.open((request) => new Response(request.headers.get('cookie')))
    await visitor.send(head(1, [...GET, ['cookie', 'a=b'], ['cookie', 'c=d'], ['cookie', 'e=f']]))
    expect((await visitor.response(1)).body).toBe('a=b; c=d; e=f')
  })

  test('§8.3.1 may name its host in Host alone, or in both', async () => {
    const site = { canonicalUrl: 'https://site.example:8443' }
    const visitor = await Visitor.open((request) => new Response(request.headers.get('host')), site)
    const without = GET.filter(([name]) => name !== ':authority')
    await visitor.send(head(1, [...without, ['host', 'site.example:8443']]))
    expect((await visitor.response(1)).body).toBe('site.example:8443')
    await visitor.send(head(3, [...GET, ['host', 'SITE.example']]))
    expect((await visitor.response(3)).body).toBe('site.example:8443')
  })

  test('§8.1 may end with trailers, which are dropped', async () => {
    const visitor = await Visitor.open(async (request) => new Response(await request.text()))
    await visitor.send(post(1), frame(DATA, 0, 1, 'body'), head(1, [['x-check', 'sum']]))
    expect((await visitor.response(1)).body).toBe('body')
  })

  test('GET may end in a frame of its own', async () => {
    const visitor = await Visitor.open()
    await visitor.send(frame(HEADERS, END_HEADERS, 1, block(GET)))
    await settle()
    expect(visitor.requests).toHaveLength(0)
    await visitor.send(frame(DATA, END_STREAM, 1))
    expect((await visitor.response(1)).body).toBe('ok')
    expect(visitor.requests[0]?.body).toBeNull()
  })

  test('OPTIONS * is answered without the handler', async () => {
    const visitor = await Visitor.open()
    await visitor.send(head(1, request({ ':method': 'OPTIONS', ':path': '*' })))
    expect((await visitor.response(1)).status).toBe('204')
    expect(visitor.requests).toHaveLength(0)
  })
})

describe('§8.1.1 malformed: RST_STREAM, never a handler call, and the connection lives', () => {
  test.each<[string, Fields]>([
    ['no :method', GET.slice(1)],
    ['no :scheme', GET.filter(([name]) => name !== ':scheme')],
    ['no :path', GET.slice(0, 3)],
    ['an empty :path', request({ ':path': '' })],
    ['an invalid :path', request({ ':path': 'a' })],
    ['a :path in absolute-form', request({ ':path': 'https://site.example/' })],
    ['a :path with a space', request({ ':path': '/ HTTP/1.1' })],
    ['* for another method than OPTIONS', request({ ':path': '*' })],
    ['a :method that is no token', request({ ':method': 'GET /' })],
    ['a pseudo-header twice', [...GET, [':path', '/']]],
    ['an unknown pseudo-header', [...GET, [':unknown', '']]],
    ['a pseudo-header of responses', [...GET, [':status', '200']]],
    ['a pseudo-header behind a field', [['a', 'b'], ...GET]],
    ['another host', [...GET, ['host', 'other.example']]],
    ['two hosts', [...GET, ['host', 'site.example'], ['host', 'other.example']]],
    ['a name in upper case', [...GET, ['X-Name', 'a']]],
    ['a name with a space', [...GET, ['x name', 'a']]],
    ['a name with a colon', [...GET, ['x:', 'a']]],
    ['an empty name', [...GET, ['', 'a']]],
    ['a name with an octet above ASCII', [...GET, ['x\xfc', 'a']]],
    ['a value with CR LF', [...GET, ['x', 'a\r\nb: c']]],
    ['a value with NUL', [...GET, ['x', 'a\0']]],
    ['a value with a space before', [...GET, ['x', ' a']]],
    ['a value with a tab behind', [...GET, ['x', 'a\t']]],
    ['Connection', [...GET, ['connection', 'close']]],
    ['Keep-Alive', [...GET, ['keep-alive', '1']]],
    ['Proxy-Connection', [...GET, ['proxy-connection', 'close']]],
    ['Transfer-Encoding', [...GET, ['transfer-encoding', 'chunked']]],
    ['Upgrade', [...GET, ['upgrade', 'h2c']]],
    ['TE of more than trailers', [...GET, ['te', 'trailers, deflate']]],
    ['content that does not come', [...request({ ':method': 'POST' }), ['content-length', '1']]],
    ['Content-Length twice', [...GET, ['content-length', '0'], ['content-length', '0']]],
    ['Content-Length that is no number', [...GET, ['content-length', '+0']]],
    ['CONNECT with a path', request({ ':method': 'CONNECT' })],
    [':protocol without CONNECT', request({ ':protocol': 'websocket' })],
  ])('%s', async (_, fields) => {
    const visitor = await Visitor.open()
    await visitor.send(head(1, fields))
    expect(await visitor.next()).toBe('RST_STREAM 1 PROTOCOL_ERROR')
    expect(visitor.requests).toHaveLength(0)
    await visitor.send(get(3))
    expect((await visitor.response(3)).body).toBe('ok')
    expect(visitor.errors).toEqual([])
  })

  test.each<[string, Buffer[]]>([
    ['§8.1.1 more than Content-Length says', [frame(DATA, 0, 1, '123456')]],
    ['§8.1.1 less than Content-Length says', [frame(DATA, END_STREAM, 1, '1234')]],
    ['§8.1.1 less, and trailers', [frame(DATA, 0, 1, '1234'), head(1, [['x', 'y']])]],
    ['§8.1 trailers that do not end the stream', [frame(HEADERS, END_HEADERS, 1, block([['x', 'y']]))]],
    ['§8.1 trailers with a pseudo-header', [frame(DATA, 0, 1, '12345'), head(1, [[':path', '/']])]],
    ['§8.2 trailers that are malformed', [frame(DATA, 0, 1, '12345'), head(1, [['X', 'y']])]],
  ])('%s: the handler that reads is told', async (_, frames) => {
    const visitor = await Visitor.open(async (request) => new Response(await request.text()))
    await visitor.send(post(1, { 'content-length': '5' }), ...frames)
    expect(await visitor.next()).toBe('RST_STREAM 1 PROTOCOL_ERROR')
    expect(visitor.requests[0]?.signal.aborted).toBe(true)
    expect(visitor.errors).toEqual([])
  })
})

describe('a request that is refused gets an answer, and never a handler', () => {
  test.each<[string, Fields, string]>([
    ['RFC 9110 §7.4 another site', request({ ':authority': 'other.example' }), '421'],
    ['RFC 9110 §7.4 in the clear', request({ ':scheme': 'http' }), '421'],
    ['RFC 9110 §4.2.4 userinfo', request({ ':authority': 'user@site.example' }), '400'],
    ['no host at all', GET.filter(([name]) => name !== ':authority'), '400'],
    ['a fragment', request({ ':path': '/#a' }), '400'],
    ['TRACE', request({ ':method': 'TRACE' }), '501'],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'site.example:443'],
      ],
      '501',
    ],
    ['RFC 8441 another protocol', request({ ':method': 'CONNECT', ':protocol': 'connect-ip' }), '501'],
    [
      'more than HEAD_FIELDS fields',
      [...GET, ...Array.from({ length: HEAD_FIELDS }, () => ['x', ''] as const)],
      '431',
    ],
    ['header lists of more than HEAD_BYTES', [...GET, ['x', 'v'.repeat(HEAD_BYTES - 200)]], '431'],
    [
      'the same after a field that is malformed',
      [...GET, ['accept', 'text/html\0'], ['x', 'v'.repeat(HEAD_BYTES - 200)]],
      '431',
    ],
  ])('%s', async (_, fields, status) => {
    const visitor = await Visitor.open()
    const bytes = block(fields)
    for (let at = 0; at < bytes.length; at += 16_000) {
      const flags = (at === 0 ? END_STREAM : 0) | (at + 16_000 >= bytes.length ? END_HEADERS : 0)
      await visitor.send(frame(at === 0 ? HEADERS : CONTINUATION, flags, 1, bytes.subarray(at, at + 16_000)))
    }
    const answer = await visitor.response(1)
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/plain;charset=UTF-8'])
    expect(visitor.requests).toHaveLength(0)
    await visitor.send(get(3))
    expect((await visitor.response(3)).body).toBe('ok')
  })

  test('RFC 9110 §10.1.1 an expectation that cannot be met', async () => {
    const visitor = await Visitor.open()
    await visitor.send(post(1, { expect: 'miracles' }))
    expect((await visitor.response(1)).status).toBe('417')
    expect(await visitor.next()).toBe('RST_STREAM 1 NO_ERROR')
  })

  test('RFC 9110 §9.3.1 GET with content', async () => {
    const visitor = await Visitor.open(async (request) => new Response(await request.text()))
    await visitor.send(frame(HEADERS, END_HEADERS, 1, block(GET)), frame(DATA, END_STREAM, 1, 'content'))
    expect(await visitor.response(1)).toMatchObject({ status: '200', body: 'content' })
  })

  test('RFC 9110 §9.3.1 GET whose stream ends in an empty frame has no body', async () => {
    const visitor = await Visitor.open((request) => new Response(`${request.body}`))
    await visitor.send(frame(HEADERS, END_HEADERS, 1, block(GET)), frame(DATA, END_STREAM, 1, ''))
    expect(await visitor.response(1)).toMatchObject({ status: '200', body: 'null' })
  })
})

describe('§8.1 a response', () => {
  const ask = async (
    fetch: () => Response | Promise<Response>,
    fields: Record<string, string> = {},
  ): Promise<unknown[]> => {
    const visitor = await Visitor.open(fetch)
    await visitor.send(head(1, request(fields)))
    const { headers, body } = await visitor.response(1)
    return [headers, body, visitor.errors.length]
  }

  test('has the handler’s fields, without those about a connection', async () => {
    const headers = new Headers({
      connection: 'close',
      'keep-alive': '1',
      'x-name': 'gr\xfc\xdfe',
      upgrade: 'h2c',
    })
    headers.append('set-cookie', 'a=b')
    headers.append('set-cookie', 'c=d')
    const response = (): Response =>
      Object.defineProperty(new Response('ok', { status: 201 }), 'headers', { value: headers })
    expect(await ask(response)).toEqual([
      { ':status': '201', 'content-length': '2', 'x-name': 'gr\xfc\xdfe', 'set-cookie': 'a=b\nc=d' },
      'ok',
      0,
    ])
  })

  test('without content ends with its head', async () => {
    const visitor = await Visitor.open(() => new Response(null, { status: 304, headers: { etag: '"a"' } }))
    await visitor.send(get(1))
    expect(await visitor.next()).toBe('HEADERS 1 end')
  })

  test('to HEAD has the length and no content', async () => {
    const fetch = (): Response => new Response('12345', { headers: { 'content-length': '5' } })
    const [headers, body] = await ask(fetch, { ':method': 'HEAD' })
    expect([headers, body]).toEqual([expect.objectContaining({ 'content-length': '5' }), ''])
  })

  test('of a handler that throws is 500, without details, and the site is told', async () => {
    const broken = (): Response => {
      throw new Error('secret')
    }
    expect(await ask(broken)).toEqual([
      expect.objectContaining({ ':status': '500' }),
      'Internal Server Error',
      1,
    ])
    expect(await ask(async () => 'no response' as never)).toMatchObject([
      { ':status': '500' },
      expect.anything(),
      1,
    ])
  })

  test('that breaks off is reset, and the site is told', async () => {
    const visitor = await Visitor.open(() => {
      const body = new ReadableStream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode('begin'))
          await settle()
          controller.error(new Error('broke off'))
        },
      })
      return new Response(body)
    })
    await visitor.send(get(1))
    expect(await visitor.until(/RST_STREAM/)).toEqual([
      'HEADERS 1',
      'DATA 1 5',
      'RST_STREAM 1 INTERNAL_ERROR',
    ])
    expect(visitor.errors).toEqual([new Error('broke off')])
  })

  test('that is not the length it said is reset', async () => {
    const visitor = await Visitor.open(() => {
      const body = new ReadableStream({
        async start(controller) {
          await settle()
          controller.enqueue(new Uint8Array(WRITE_BYTES + 1))
        },
      })
      return new Response(body, { headers: { 'content-length': String(WRITE_BYTES) } })
    })
    await visitor.send(get(1))
    expect((await visitor.until(/RST_STREAM/)).at(-1)).toBe('RST_STREAM 1 INTERNAL_ERROR')
    expect(visitor.errors).toMatchObject([{ code: 'content_length_mismatch' }])
  })

  test('is sent in pieces as they come, which server-sent events need', async () => {
    let send: (text: string) => void = () => {}
    const body = new ReadableStream({
      start(controller) {
        send = (text) => controller.enqueue(new TextEncoder().encode(text))
      },
    })
    const visitor = await Visitor.open(() => new Response(body))
    await visitor.send(get(1))
    expect(await visitor.next()).toBe('HEADERS 1')
    for (const text of ['data: 1\n\n', 'data: two\n\n']) {
      send(text)
      expect(await visitor.next()).toBe(`DATA 1 ${text.length}`)
    }
  })
})

describe('RFC 9110 §10.1.1 Expect: 100-continue', () => {
  test('is answered when the handler reads', async () => {
    const visitor = await Visitor.open(async (request) => new Response(await request.text()))
    await visitor.send(post(1, { expect: '100-continue' }))
    expect((await visitor.frame())?.fields).toEqual({ ':status': '100' })
    await visitor.send(frame(DATA, END_STREAM, 1, 'invited'))
    expect(await visitor.response(1)).toMatchObject({ status: '200', body: 'invited' })
  })

  test('not when it answers without reading, nor when the body is there', async () => {
    const visitor = await Visitor.open(async (request) =>
      request.url.endsWith('/no') ? new Response('no') : new Response(await request.text()),
    )
    await visitor.send(post(1, { expect: '100-continue', ':path': '/no' }))
    expect((await visitor.frame())?.fields[':status']).toBe('200')
    await visitor.until('RST_STREAM 1 NO_ERROR')
    await visitor.send(
      Buffer.concat([post(3, { expect: '100-continue' }), frame(DATA, END_STREAM, 3, 'there')]),
    )
    expect((await visitor.frame())?.fields[':status']).toBe('200')
  })
})

describe('§5.1 many streams at once', () => {
  test('are answered as their handlers are ready', async () => {
    const ready = new Map<string, (response: Response) => void>()
    const visitor = await Visitor.open(
      (request) => new Promise((resolve) => ready.set(request.url.slice(-1), resolve)),
    )
    await visitor.send(get(1, '/a'), get(3, '/b'), get(5, '/c'))
    await settle()
    for (const [id, path] of [
      [3, 'b'],
      [5, 'c'],
      [1, 'a'],
    ] as const) {
      ready.get(path)?.(new Response(path))
      expect((await visitor.response(id)).body).toBe(path)
    }
  })

  test('§5.1.2 up to STREAMS_MAX; the next one is refused, and may try again', async () => {
    const open: ((response: Response) => void)[] = []
    const visitor = await Visitor.open(() => new Promise((resolve) => open.push(resolve)))
    for (let i = 0; i <= STREAMS_MAX; i++) await visitor.send(get(2 * i + 1))
    expect(await visitor.next()).toBe(`RST_STREAM ${2 * STREAMS_MAX + 1} REFUSED_STREAM`)
    expect(visitor.requests).toHaveLength(STREAMS_MAX)
    open[0]?.(new Response('ok'))
    await visitor.response(1)
    await visitor.send(get(2 * STREAMS_MAX + 3))
    await settle()
    expect(visitor.requests).toHaveLength(STREAMS_MAX + 1)
  })

  test('§6.4 one that the visitor resets aborts its signal and its body, and not the others', async () => {
    let cancelled: unknown
    const visitor = await Visitor.open((request) => {
      if (request.url.endsWith('/wait')) return new Promise(() => {})
      const body = new ReadableStream({
        cancel(reason) {
          cancelled = reason
        },
      })
      return new Response(body)
    })
    await visitor.send(get(1), get(3, '/wait'))
    expect(await visitor.next()).toBe('HEADERS 1')
    await visitor.send(reset(1))
    await settle()
    expect(visitor.requests.map(({ signal }) => signal.aborted)).toEqual([true, false])
    expect(cancelled).toMatchObject({ code: 'cancelled' })
    expect(visitor.errors).toEqual([])
  })
})
