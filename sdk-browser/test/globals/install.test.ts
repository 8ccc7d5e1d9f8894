// The Request and Response that keep what a browser's drop (Fetch standard §2.2.2, §5.3, §5.5), over stand-ins that drop.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { converse } from '../../../sdk-core/test/http1/visitor.ts'
import { installGlobals, removeGlobals } from '../../src/globals/install.ts'

/** Of the Fetch standard's lists, those that a site cannot do without. */
const FORBIDDEN_IN_REQUESTS = ['cookie', 'host', 'origin', 'referer', 'user-agent']
const FORBIDDEN_IN_RESPONSES = ['set-cookie']

function without(init: HeadersInit | undefined, names: readonly string[]): Headers {
  const headers = new Headers(init)
  for (const name of names) headers.delete(name)
  return headers
}

/** As in a page: the guard is that of the object, so what is set later is dropped as well. */
function guard<T extends { headers: Headers }>(target: T, names: readonly string[]): T {
  const { append, set } = Headers.prototype
  for (const [name, method] of Object.entries({ append, set }))
    Object.defineProperty(target.headers, name, {
      value: (field: string, value: string) =>
        names.includes(field.toLowerCase()) || method.call(target.headers, field, value),
    })
  return target
}

const { Request: NodeRequest, Response: NodeResponse } = globalThis

class PageRequest extends NodeRequest {
  constructor(input: RequestInfo | URL, init: RequestInit = {}) {
    const given = init.headers ?? (input instanceof NodeRequest ? input.headers : undefined)
    super(input, { ...init, headers: without(given, FORBIDDEN_IN_REQUESTS) })
    guard(this, FORBIDDEN_IN_REQUESTS)
  }
}

class PageResponse extends NodeResponse {
  constructor(body?: BodyInit | null, init: ResponseInit = {}) {
    const { status, statusText } = init
    super(body, {
      ...(status !== undefined && { status }),
      ...(statusText !== undefined && { statusText }),
      headers: without(init.headers, FORBIDDEN_IN_RESPONSES),
    })
    guard(this, FORBIDDEN_IN_RESPONSES)
  }
}

/** A page has one of each, of which all are instances: its own copies, too. */
const isOf = (native: abstract new (...args: never[]) => object) => ({
  value(this: unknown, value: unknown): boolean {
    if (this === PageRequest || this === PageResponse) return value instanceof native
    return Function.prototype[Symbol.hasInstance].call(this, value)
  },
})
Object.defineProperty(PageRequest, Symbol.hasInstance, isOf(NodeRequest))
Object.defineProperty(PageResponse, Symbol.hasInstance, isOf(NodeResponse))

const URL_A = 'https://site.example/a'
const SENT = {
  cookie: 'a=b',
  host: 'site.example',
  origin: 'https://o.example',
  'user-agent': 'curl',
  'x-own': '1',
}

beforeEach(() => {
  vi.stubGlobal('Request', PageRequest)
  vi.stubGlobal('Response', PageResponse)
})
afterEach(() => {
  removeGlobals()
  vi.unstubAllGlobals()
})

test('the stand-ins drop what a page drops, so that the tests below mean something', () => {
  expect([...new Request(URL_A, { headers: SENT }).headers.keys()]).toEqual(['x-own'])
  const response = new Response('', { headers: { 'set-cookie': 'a=b' } })
  response.headers.append('Set-Cookie', 'c=d')
  expect(response.headers.getSetCookie()).toEqual([])
})

describe('Request', () => {
  beforeEach(installGlobals)

  test.each<[string, (request: Request) => Request]>([
    ['its construction', (request) => request],
    ['clone()', (request) => request.clone()],
    ['clone().clone()', (request) => request.clone().clone()],
    ['new Request(request)', (request) => new Request(request)],
    ['new Request(request, init)', (request) => new Request(request, { method: 'PUT' })],
    [
      'new Request(url, request), as Hono mounts',
      (request) => new Request('https://site.example/b', request),
    ],
    ['new Request(clone)', (request) => new Request(request.clone())],
  ])('keeps its fields through %s', (_, copy) => {
    const request = copy(new Request(URL_A, { headers: SENT }))
    expect(Object.fromEntries(request.headers)).toEqual(SENT)
    request.headers.set('cookie', 'c=d')
    expect(request.headers.get('cookie')).toBe('c=d')
  })

  test('init.headers take the place of all fields, as in the standard', () => {
    const request = new Request(new Request(URL_A, { headers: SENT }), { headers: { cookie: 'only' } })
    expect([...request.headers]).toEqual([['cookie', 'only']])
  })

  test('its body, method and signal are those of the platform', async () => {
    const abort = new AbortController()
    const first = new Request(URL_A, { method: 'POST', body: 'hello', signal: abort.signal, headers: SENT })
    const copy = new Request(first)
    expect([copy.method, copy.url, copy.headers.get('content-type')]).toEqual([
      'POST',
      URL_A,
      'text/plain;charset=UTF-8',
    ])
    expect([await copy.text(), first.bodyUsed]).toEqual(['hello', true])
    abort.abort()
    expect(copy.signal.aborted).toBe(true)
    expect(() => new Request('not a url')).toThrow(TypeError)
    expect(() => new Request(URL_A, { method: 'CONNECT' })).toThrow(TypeError)
    expect(() => new Request(first)).toThrow(TypeError)
  })

  test('a GET with a body and an unusual method live through a copy', async () => {
    for (const method of ['GET', 'get', 'TRACK']) {
      const answer = await converse(
        `${method} / HTTP/1.1\r\nHost: site.example\r\nCookie: a=b\r\nContent-Length: 5\r\n\r\nhello`,
        async (request) => {
          const copy = new Request(request)
          return new Response(`${copy.method} ${copy.headers.get('cookie')} ${await copy.text()}`)
        },
      )
      expect(answer.endsWith(`\r\n\r\n${method} a=b hello`)).toBe(true)
    }
  })
})

describe('Response', () => {
  beforeEach(installGlobals)
  const COOKIES = ['a=b; HttpOnly', 'c=d']
  const headers = (): Headers => {
    const fields = new Headers({ 'x-own': '1' })
    for (const cookie of COOKIES) fields.append('Set-Cookie', cookie)
    return fields
  }

  test.each<[string, () => Response]>([
    ['its construction', () => new Response('ok', { headers: headers() })],
    ['a list of fields', () => new Response('ok', { headers: [...headers()] })],
    ['clone()', () => new Response('ok', { headers: headers() }).clone()],
    ['new Response(body, response)', () => new Response('ok', new Response('', { headers: headers() }))],
    ['Response.json', () => Response.json({}, { headers: headers() })],
    [
      'append',
      () => {
        const response = new Response('ok', { headers: { 'x-own': '1' } })
        for (const cookie of COOKIES) response.headers.append('Set-Cookie', cookie)
        return response
      },
    ],
    [
      'Response.redirect and append',
      () => {
        const response = Response.redirect('https://site.example/in', 303)
        for (const [name, value] of headers()) response.headers.append(name, value)
        return response
      },
    ],
  ])('keeps Set-Cookie through %s, up to the visitor', async (_, make) => {
    expect(make().headers.getSetCookie()).toEqual(COOKIES)
    const answer = await converse('GET / HTTP/1.1\r\nHost: site.example\r\n\r\n', make)
    expect(answer).toContain('set-cookie: a=b; HttpOnly\r\nset-cookie: c=d\r\n')
    expect(answer).toContain('x-own: 1\r\n')
  })

  test('the rest is that of the platform', async () => {
    const json = Response.json({ a: 1 }, { status: 201 })
    expect([json.status, json.headers.get('content-type'), await json.json()]).toEqual([
      201,
      'application/json',
      { a: 1 },
    ])
    expect(Response.json(1, { headers: { 'content-type': 'text/x' } }).headers.get('content-type')).toBe(
      'text/x',
    )
    expect(() => Response.json(undefined)).toThrow(TypeError)
    expect(new Response('a').headers.get('content-type')).toBe('text/plain;charset=UTF-8')
    expect(new Response(new Blob(['a'], { type: 'text/x' })).headers.get('content-type')).toBe('text/x')
    expect(Response.redirect(URL_A).headers.get('location')).toBe(URL_A)
    expect([Response.redirect(URL_A).status, Response.error().type]).toEqual([302, 'error'])
    expect(() => new Response('a', { status: 204 })).toThrow(TypeError)
    expect(() => Response.redirect(URL_A, 200)).toThrow(RangeError)
    const [one, two] = [new Response('twice'), new Response('')]
    expect([await one.clone().text(), await one.text(), two.ok]).toEqual(['twice', 'twice', true])
  })
})

describe('what they are', () => {
  test('instances of what they replace, as the platform’s own are of them', async () => {
    const native = new Response('')
    installGlobals()
    class Mine extends Response {}
    expect(native instanceof Response).toBe(true)
    expect(new Response('') instanceof PageResponse).toBe(true)
    expect([new Mine() instanceof Mine, new Mine() instanceof Response]).toEqual([true, true])
    expect(new Response('') instanceof Mine).toBe(false)
    expect(new Request(URL_A).clone() instanceof Request).toBe(true)
    expect(await fetch('data:,hello')).toBeInstanceOf(Response)
    expect([Request.name, Response.name]).toEqual([PageRequest.name, PageResponse.name])
  })

  test('installed once, and removed', () => {
    installGlobals()
    const { Request: ours } = globalThis
    installGlobals()
    expect(globalThis.Request).toBe(ours)
    removeGlobals()
    expect([globalThis.Request, globalThis.Response]).toEqual([PageRequest, PageResponse])
    removeGlobals()
  })

  test('what somebody else put in their place stays', () => {
    installGlobals()
    class Other extends Response {}
    globalThis.Response = Other
    removeGlobals()
    expect([globalThis.Request, globalThis.Response]).toEqual([PageRequest, Other])
  })
})
