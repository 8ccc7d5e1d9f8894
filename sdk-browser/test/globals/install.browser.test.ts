// Headers, Request and Response as the Fetch standard has them (§5), in a real browser: whatever is asked of the browser's
// own is asked of the globals, and both have to say the same. Where they are meant to differ is in globals.test.ts.

import { afterEach, expect, test } from 'vitest'
import { installGlobals, removeGlobals } from '../../src/globals/install.ts'

const URL_A = 'https://site.example/a?b'
const POST = { method: 'POST', body: 'hello' }

afterEach(removeGlobals)

/** What comes out: a value, or the name of the error. */
async function outcome(ask: () => unknown): Promise<unknown> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { error: (error as Error).name }
  }
}

const fields = ({ headers }: Request | Response): string[][] => [...headers]
const stream = (text = 'hello'): ReadableStream => new Response(text).body!
const withStream = (init: object): RequestInit => ({ method: 'POST', body: stream(), ...init })

test.each<[string, () => unknown]>([
  [
    'lengths and names',
    () =>
      [Request, Response, Response.json, Response.redirect, Response.error].map((one) => [
        one.name,
        one.length,
      ]),
  ],
  ['tags', () => [new Request(URL_A), new Response()].map(String)],
  ['members', () => [Request, Response].map((one) => Object.getOwnPropertyNames(one.prototype).length > 0)],
  ['a call without new', () => (Request as unknown as () => void)()],

  // §5.4 Request class, the constructor's steps
  ['URLs', () => [URL_A, new URL(URL_A), '/x', ''].map((url) => new Request(url).url)],
  ['no URL', () => new Request('https://')],
  ['a URL with credentials', () => new Request('https://a:b@site.example')],
  ['no argument', () => new (Request as unknown as new () => Request)()],
  ['null as init', () => new Request(URL_A, null as unknown as RequestInit).method],
  [
    'methods',
    () => ['get', 'Post', 'PATCH', 'patch', 'x'].map((method) => new Request(URL_A, { method }).method),
  ],
  ...['TRACE', 'connect', 'a b', ''].map((method): [string, () => unknown] => [
    `the method "${method}"`,
    () => new Request(URL_A, { method }),
  ]),
  ['a body with GET', () => new Request(URL_A, { body: 'a' })],
  ['a window', () => new Request(URL_A, { window: 'a' as never }).url],
  ['the mode navigate', () => new Request(URL_A, { mode: 'navigate' })],
  ['an unknown mode', () => new Request(URL_A, { mode: 'a' as never })],
  ['only-if-cached', () => new Request('/', { cache: 'only-if-cached' })],
  ['an invalid signal', () => new Request(URL_A, { signal: 1 as never })],
  ['invalid headers', () => new Request(URL_A, { headers: 1 as never })],
  ['an invalid field', () => new Request(URL_A, { headers: { 'a b': '' } })],
  [
    'attributes',
    () => {
      const init = {
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'manual',
        referrerPolicy: 'no-referrer',
      }
      const request = new Request(new Request(URL_A, { ...init, keepalive: true } as RequestInit), {
        integrity: 'x',
      })
      const { cache, credentials, integrity, keepalive, mode, redirect, referrer, referrerPolicy } = request
      return [cache, credentials, integrity, keepalive, mode, redirect, referrer, referrerPolicy]
    },
  ],
  ...[
    'text',
    new Blob(['a'], { type: 'a/b' }),
    new URLSearchParams('a=b'),
    new Uint8Array(2),
    new ArrayBuffer(1),
  ].map((body): [string, () => unknown] => [
    `the type and content of ${Object.prototype.toString.call(body)}`,
    async () => {
      const [request, response] = [new Request(URL_A, { method: 'PUT', body }), new Response(body)]
      return [fields(request), fields(response), await request.text(), await response.text()]
    },
  ]),
  [
    'a form',
    async () => {
      const body = new FormData()
      body.set('a', 'b')
      return [...(await new Request(new Request(URL_A, { method: 'POST', body })).formData())]
    },
  ],
  ['a type of its own', () => fields(new Request(URL_A, { ...POST, headers: { 'Content-Type': 'a/b' } }))],
  [
    'the type of an input',
    () => fields(new Request(new Request(URL_A, { ...POST, headers: { 'X-A': '1' } }))),
  ],
  [
    'other headers',
    () => fields(new Request(new Request(URL_A, { headers: { 'x-a': '1' } }), { headers: { 'x-b': '2' } })),
  ],
  [
    'no headers in place of an input’s',
    () => fields(new Request(new Request(URL_A, { headers: { 'x-a': '1' } }), { headers: {} })),
  ],
  [
    'headers of every kind',
    () =>
      [[['x-a', '1']], { 'x-a': '1' }, new Headers({ 'x-a': '1' })].map((headers) =>
        fields(new Request(URL_A, { headers: headers as HeadersInit })),
      ),
  ],
  [
    'an input whose body was used',
    async () => {
      const request = new Request(URL_A, POST)
      await request.text()
      return new Request(request)
    },
  ],
  [
    'a new body for it',
    async () => {
      const request = new Request(URL_A, POST)
      await request.text()
      return new Request(request, { body: 'other' }).text()
    },
  ],
  [
    'an input gives its body away',
    () => {
      const request = new Request(URL_A, POST)
      const second = new Request(request)
      return [request.bodyUsed, second.bodyUsed]
    },
  ],
  [
    'and keeps it when that fails',
    () => {
      const request = new Request(URL_A, POST)
      try {
        new Request(request, { method: 'GET' })
      } catch {}
      return request.bodyUsed
    },
  ],
  ['a stream without duplex', () => new Request(URL_A, withStream({}))],
  ['duplex full', () => new Request(URL_A, withStream({ duplex: 'full' }))],
  ['a stream', () => new Request(new Request(URL_A, withStream({ duplex: 'half' }))).text()],
  [
    'a stream that is read',
    () => {
      const body = stream()
      body.getReader()
      return new Request(URL_A, withStream({ duplex: 'half', body }))
    },
  ],
  [
    'a signal that aborts copies',
    () => {
      const abort = new AbortController()
      const copies = [new Request(URL_A, { signal: abort.signal })].flatMap((one) => [
        one.clone(),
        new Request(one),
      ])
      abort.abort('why')
      return copies.map(({ signal }) => [signal.aborted, signal.reason])
    },
  ],
  [
    'both halves of a clone',
    async () => {
      const request = new Request(URL_A, POST)
      return Promise.all([request.clone(), request].map((one) => one.text()))
    },
  ],
  [
    'a clone of what was read',
    async () => {
      const request = new Request(URL_A, POST)
      await request.text()
      return request.clone()
    },
  ],
  [
    'attributes that cannot be set',
    () => {
      Object.assign(new Request(URL_A), { method: 'POST' })
    },
  ],

  // §5.5 Response class
  [
    'defaults',
    () => {
      const { body, bodyUsed, ok, redirected, status, statusText, type, url } = new Response()
      return [body, bodyUsed, ok, redirected, status, statusText, type, url]
    },
  ],
  ['null as body and init', () => [...new Response(null, null as unknown as ResponseInit).headers]],
  ['an undefined body', () => new Response(undefined, { status: 204 }).body],
  ...[199, 600, 204.5, 65_736].map((status): [string, () => unknown] => [
    `the status ${status}`,
    () => new Response(null, { status }).status,
  ]),
  ...[204, 205, 304].flatMap((status): [string, () => unknown][] => [
    [`a body with ${status}`, () => new Response('', { status })],
    [`JSON with ${status}`, () => Response.json('', { status })],
  ]),
  ['a reason with a line break', () => new Response('', { statusText: '\n' })],
  ['a reason', () => new Response('', { statusText: 'Fine' }).clone().statusText],
  [
    'redirects',
    () =>
      [301, 302, 303, 307, 308, undefined].map((status) => {
        const response = Response.redirect('/x', status)
        return [response.status, response.type, response.redirected, ...fields(response)]
      }),
  ],
  ['a redirect with 200', () => Response.redirect('/', 200)],
  ['a redirect to nothing', () => Response.redirect('https://')],
  [
    'JSON',
    async () => {
      const response = Response.json({ a: 1 }, { status: 201, headers: { 'X-A': '1' } })
      return [response.status, fields(response), await response.json()]
    },
  ],
  ['JSON of null as init', () => fields(Response.json(1, null as unknown as ResponseInit))],
  ['JSON of what is none', () => Response.json(Symbol('a'))],
  [
    'a network error',
    () => {
      const { body, headers, status, type } = Response.error()
      return [body, [...headers], status, type]
    },
  ],
  ['a change of its headers', () => Response.error().headers.append('a', 'b')],
  [
    'a clone of a stream',
    async () => {
      const response = new Response(stream())
      const clone = response.clone()
      return [await clone.text(), await response.text(), clone instanceof Response]
    },
  ],
  [
    'a clone of what was read before',
    async () => {
      const response = new Response('a')
      await response.text()
      return response.clone()
    },
  ],
  [
    'a clone has headers of its own',
    () => {
      const response = new Response('', { headers: { 'x-a': '1' } })
      response.clone().headers.set('x-a', '2')
      return fields(response)
    },
  ],
])('%s', async (_, ask) => {
  const native = await outcome(ask)
  installGlobals()
  expect(await outcome(ask)).toEqual(native)
})
