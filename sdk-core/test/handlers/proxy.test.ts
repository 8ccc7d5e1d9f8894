// RFC 9110 §7.6: what passes through, and what must not, with a real server behind.

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { COLLECT_BYTES, proxy } from '../../src/handlers/proxy.ts'
import { Visitor } from '../http1/visitor.ts'
import { ask, info } from './ask.ts'

let server: Server
let target: string
let seen: IncomingMessage

beforeAll(async () => {
  server = createServer(async (request, response) => {
    seen = request
    const { pathname } = new URL(request.url!, 'http://x')
    if (pathname.endsWith('/gzip')) response.setHeader('content-encoding', 'gzip').end(gzipSync('plain'))
    else if (pathname.endsWith('/hop'))
      response
        .writeHead(200, {
          connection: 'x-hop, , @',
          'x-hop': '1',
          'proxy-authenticate': 'Basic',
          'x-end': '1',
        })
        .end('ok')
    else if (pathname.endsWith('/cookies'))
      response
        .writeHead(
          200,
          [
            ['set-cookie', 'a=b'],
            ['set-cookie', 'odd'],
          ].flat(),
        )
        .end()
    else if (pathname.endsWith('/moved')) response.writeHead(302, { location: '/there' }).end()
    else if (pathname.endsWith('/own'))
      response.writeHead(302, { location: `${target}/there`, 'set-cookie': 'a=1; Domain=localhost' }).end()
    else if (pathname.endsWith('/204')) response.writeHead(204).end()
    else request.pipe(response.writeHead(200, { 'x-path': request.url! }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => void vi.restoreAllMocks())

const post = (body: BodyInit, headers: Record<string, string> = {}): RequestInit =>
  Object.assign({ method: 'POST', body, headers }, { duplex: 'half' })

test('the target is told its own origin, and its redirects lead to the site', async () => {
  const fields = { origin: 'https://site.example', referer: 'https://site.example/form' }
  const response = await ask(proxy(target), '/own', { headers: fields })
  expect([seen.headers.origin, seen.headers.referer]).toEqual([target, `${target}/form`])
  expect(response.headers.get('location')).toBe('https://site.example/there')
  expect(response.headers.getSetCookie()).toEqual(['a=1'])
})

test('a visitor that half-closes after its request gets the answer of the target', async () => {
  const visitor = new Visitor(proxy(target))
  await visitor.send('GET /204 HTTP/1.1\r\nHost: site.example\r\n\r\n')
  await visitor.end()
  expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 204 /)
})

describe('the target', () => {
  test.each([
    ['', '/a/b?c=d', '/a/b?c=d'],
    ['/base', '/a', '/base/a'],
    ['/base/', '/', '/base/'],
    ['/base', '/../a', '/base/a'],
    ['/base', '/%2e%2e/a', '/base/a'],
    ['/base', '/..%2fa', '/base/..%2fa'],
    ['', '//other.example/a', '//other.example/a'],
    ['', '/\\other.example', '//other.example'],
    ['', '/@other.example', '/@other.example'],
  ])('%s with %s is asked for %s', async (base, path, expected) => {
    const response = await ask(proxy(target + base), path)
    expect(response.headers.get('x-path')).toBe(expected)
  })

  test.each(['ftp://a', 'nonsense', 'http://u:p@a', 'http://a/?q', 'http://a/#f'])('%s is refused', (url) => {
    expect(() => proxy(url)).toThrow('the target of a proxy')
  })

  test('RFC 9110 §9.3.1 a GET with content, which fetch cannot send, is a 501', async () => {
    const asked = new Request('https://site.example/', { method: 'POST', body: 'a' })
    Object.defineProperty(asked, 'method', { value: 'GET' })
    expect((await proxy(target)(asked, info)).status).toBe(501)
  })

  test('that does not answer is a 502', async () => {
    const response = await ask(proxy('http://127.0.0.1:1'), '/')
    expect(response.status).toBe(502)
  })
})

describe('the request', () => {
  test('§7.6.1 loses the fields of the connection and those it names', async () => {
    const names = ['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'proxy-authorization', 'x-hop']
    const headers = new Headers(names.map((name) => [name, name === 'connection' ? 'X-Hop, , @' : 'visitor']))
    headers.set('x-end', '1')
    await ask(proxy(target), '/', { headers })
    for (const name of names.slice(1)) expect(seen.headers[name]).not.toBe('visitor')
    expect(seen.headers['x-end']).toBe('1')
  })

  test('the fields of the owner stand in place of those of the same name', async () => {
    const headers = { 'x-key': 'guess', 'x-end': '1' }
    await ask(proxy(target, { headers: { 'x-key': 'owner', 'x-forwarded-proto': 'https' } }), '/', {
      headers,
    })
    expect(seen.headers).toMatchObject({
      'x-key': 'owner',
      'x-end': '1',
      'x-forwarded-proto': 'https',
      host: new URL(target).host,
    })
  })

  test('its body goes on: collected when it is short, else as a stream', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const short = await ask(proxy(target), '/', post('hello', { 'content-length': '5' }))
    expect(await short.text()).toBe('hello')
    expect(fetched.mock.calls[0]![1]!.body).toBeInstanceOf(ArrayBuffer)
    const large = new Uint8Array(COLLECT_BYTES + 1)
    const long = await ask(proxy(target), '/', post(large, { 'content-length': String(large.length) }))
    expect((await long.arrayBuffer()).byteLength).toBe(large.length)
    expect(fetched.mock.calls[1]![1]!.body).toBeInstanceOf(ReadableStream)
  })

  test('where streams are not sent, a long body goes on as a Blob', async () => {
    const Unstreamed = class extends Request {
      constructor(input: string, { body, ...init }: RequestInit = {}) {
        super(input, { ...init, body: body instanceof ReadableStream ? 'text' : (body ?? null) })
      }
    }
    const fetched = vi.spyOn(globalThis, 'fetch')
    vi.stubGlobal('Request', Unstreamed)
    const large = new Uint8Array(COLLECT_BYTES + 1)
    const answer = await ask(proxy(target), '/', post(large, { 'content-length': String(large.length) }))
    vi.unstubAllGlobals()
    expect((await answer.arrayBuffer()).byteLength).toBe(large.length)
    expect(fetched.mock.calls[0]![1]!.body).toBeInstanceOf(Blob)
  })

  test('a page’s own cookies stay at home', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    await ask(proxy(target), '/')
    expect(fetched.mock.calls[0]![1]).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer' })
  })

  test('ends when the visitor leaves', async () => {
    const signal = AbortSignal.abort()
    expect((await ask(proxy(target), '/', { signal })).status).toBe(502)
  })
})

describe('the response', () => {
  test('§8.4 decoded content has neither coding nor its length', async () => {
    const response = await ask(proxy(target), '/gzip')
    expect(await response.text()).toBe('plain')
    for (const name of ['content-encoding', 'content-length']) expect(response.headers.has(name)).toBe(false)
  })

  test('across origins a length may be of a coding that a page is not shown', async () => {
    const response = new Response('plain', { headers: { 'content-length': '99' } })
    Object.defineProperty(response, 'type', { value: 'cors' })
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(response)
    expect((await ask(proxy(target), '/')).headers.has('content-length')).toBe(false)
  })

  test('§7.6.1 loses the fields of the connection and those it names', async () => {
    const { headers } = await ask(proxy(target), '/hop')
    expect(headers.get('x-end')).toBe('1')
    for (const name of ['connection', 'x-hop', 'proxy-authenticate', 'keep-alive'])
      expect(headers.has(name)).toBe(false)
  })

  test('keeps each cookie', async () => {
    expect((await ask(proxy(target), '/cookies')).headers.getSetCookie()).toEqual(['a=b', 'odd'])
  })

  test('redirects are the visitor’s to follow', async () => {
    const response = await ask(proxy(target), '/moved')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/there'])
  })

  test('a redirect whose end a page is not told is a 502', async () => {
    const opaque = Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(opaque)
    expect((await ask(proxy(target), '/')).status).toBe(502)
  })

  test('without a body', async () => {
    expect((await ask(proxy(target), '/204')).status).toBe(204)
    const head = await ask(proxy(target), '/', { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, null])
  })
})
