// The Request that a handler gets: as web-standard as any, but with the fields that a page's own Request would drop.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sendsStreams } from '../../src/exchange/fetch-request.ts'
import { inspect } from '../../src/inspector/inspector.ts'
import { converse, Visitor } from '../http1/visitor.ts'

/** What a browser's guard takes out of a Request's headers (Fetch, "forbidden request-header"). */
const FORBIDDEN = ['cookie', 'host', 'origin', 'referer', 'content-length']

/** A page's Request, as far as it differs from Node's. */
class PageRequest extends Request {
  constructor(input: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers)
    for (const name of FORBIDDEN) headers.delete(name)
    super(input, { ...init, headers })
  }
}

/** Firefox's, which makes text of a stream. */
class UnstreamedRequest extends PageRequest {
  constructor(input: string, { body, ...init }: RequestInit = {}) {
    super(input, { ...init, ...(body !== undefined && { body: String(body) }) })
  }
}

const POST =
  'POST /a HTTP/1.1\r\nHost: site.example\r\nCookie: a=b\r\nOrigin: https://other.example\r\nReferer: https://r.example/\r\n' +
  'Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello'

describe('in a page', () => {
  afterEach(() => void vi.unstubAllGlobals())

  test('the handler sees Cookie, Origin, Host and Referer, on clones, too', async () => {
    vi.stubGlobal('Request', PageRequest)
    const visitor = new Visitor(async (request) => {
      const clone = request.clone()
      const again = clone.clone()
      const names = ['cookie', 'origin', 'host', 'referer', 'content-type', 'content-length']
      for (const each of [request, clone, again])
        expect(names.map((name) => each.headers.get(name))).toEqual([
          'a=b',
          'https://other.example',
          'site.example',
          'https://r.example/',
          'text/plain',
          '5',
        ])
      clone.headers.set('origin', 'changed')
      expect(request.headers.get('origin')).toBe('https://other.example')
      expect(await again.text()).toBe('hello')
      expect(await clone.text()).toBe('hello')
      return new Response(await request.text())
    })
    await visitor.send(POST)
    expect(await visitor.receive('hello')).toMatch(/^HTTP\/1\.1 200 /)
    expect(visitor.errors).toEqual([])
  })

  describe('of an engine that streams nothing that a page sends', () => {
    beforeEach(() => void vi.stubGlobal('Request', UnstreamedRequest))

    test('the handler has the body all the same, as a stream and whole, on clones, too', async () => {
      const visitor = new Visitor(async (request) => {
        expect(request.headers.get('cookie')).toBe('a=b')
        const [copy, other] = [request.clone(), request.clone()]
        expect(await copy.clone().text()).toBe('hello')
        expect(await new Response(copy.body).text()).toBe('hello')
        expect([copy.bodyUsed, request.bodyUsed]).toEqual([true, false])
        expect(new Uint8Array(await other.arrayBuffer())).toEqual(new TextEncoder().encode('hello'))
        return new Response(await request.text())
      })
      await visitor.send(POST)
      expect(await visitor.receive('hello')).toMatch(/^HTTP\/1\.1 200 /)
      expect(visitor.errors).toEqual([])
    })

    test('a form is found, and an inspector and a handler behind it see one body', async () => {
      const inspector = inspect(async (request) => new Response(`${(await request.formData()).get('a')}`))
      const answer = await converse(
        'POST / HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\na=b+c',
        inspector.fetch,
      )
      expect(answer).toMatch(/\r\n\r\nb c$/)
      expect(new TextDecoder().decode(inspector.entries[0]!.request.body)).toBe('a=b+c')
    })

    test('what has no body has none', async () => {
      const answer = await converse(
        'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n',
        (request) => new Response(`${request.body}`),
      )
      expect(answer).toMatch(/\r\n\r\nnull$/)
    })

    test('it is known, and so are others', () => {
      expect(sendsStreams()).toBe(false)
      vi.unstubAllGlobals()
      expect(sendsStreams()).toBe(true)
    })
  })
})

test('formData finds its boundary', async () => {
  const form =
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--x--\r\n'
  const answer = await converse(
    `POST / HTTP/1.1\r\nHost: site.example\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
    async (request) => {
      const data = await request.formData()
      return new Response(`${data.get('a')} ${await (data.get('f') as File).text()}`)
    },
  )
  expect(answer).toMatch(/\r\n\r\nb content$/)
})

test('RFC 6265 §5.4 cookies in several fields are joined as cookies', async () => {
  const visitor = await new Visitor().send(
    'GET / HTTP/1.1\r\nHost: site.example\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n',
  )
  await visitor.receive('ok')
  expect(visitor.requests[0]?.headers.get('cookie')).toBe('a=b; c=d')
})

test.each(['PURGE', 'PROPFIND', 'BREW', 'get', 'Post', 'TRACK'])(
  'RFC 9110 §9.1 the method %s reaches the handler as it was sent, on clones, too',
  async (method) => {
    const answer = await converse(
      `${method} / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 1\r\n\r\na`,
      async (request) =>
        new Response(`${request.clone().clone().method} ${request.method} ${await request.text()}`),
    )
    expect(answer).toMatch(new RegExp(`\r\n${method} ${method} a$`))
  },
)

test('a method of the registry beyond the usual ones reaches the handler with its body', async () => {
  const answer = await converse(
    'QUERY / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 1\r\n\r\na',
    async (request) => new Response(`${request.method} ${await request.text()}`),
  )
  expect(answer).toMatch(/QUERY a$/)
})
