// What a visitor gets when no handler answered: a document in a browser, a line for a program, over each version of HTTP.

import { describe, expect, test } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { HEAD_BYTES, HEAD_FIELDS } from '../../src/semantics/limits.ts'
import { converse, Visitor as Http1Visitor } from '../http1/visitor.ts'
import { Visitor as Http2Visitor } from '../http2/visitor.ts'
import {
  block,
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  type Fields,
  frame,
  GET,
  HEADERS,
} from '../http2/wire.ts'

const SECRET = 'a secret of the handler'
const ACCEPT = 'text/html,application/xhtml+xml,*/*;q=0.8'

const fail: FetchHandler = () => {
  throw new Error(SECRET)
}
const upgrade: FetchHandler = (request, info) => info.upgrade(request).response

/** What is the same in each document. */
function expectDocument(text: string, title: string): void {
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toContain(`<title>${title}</title>`)
  expect(text).toContain('<meta name="viewport"')
  expect(text).toContain('color-scheme:light dark;')
  expect(text).toMatch(new RegExp(`<h1>${title}</h1>\n<p>[A-Z].*\\.</p>`))
  expect(text).not.toContain(SECRET)
}

/** All that a visitor gets who keeps its direction open. */
async function told(request: string, fetch: FetchHandler): Promise<string> {
  return (await new Http1Visitor(fetch).send(request)).rest()
}

const pad = (name: string, size: number): string => `${name}: ${'x'.repeat(size)}\r\n`
const MANY: string = 'X: y\r\n'.repeat(HEAD_FIELDS)

describe.each<[status: number, title: string, line: string, fetch: FetchHandler, request: string]>([
  [
    500,
    'This site could not answer',
    'Internal Server Error',
    fail,
    'GET / HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n',
  ],
  [
    400,
    'This site cannot read the request',
    'invalid field',
    fail,
    'GET / HTTP/1.1\r\nHost: site.example\r\nA b: c\r\n',
  ],
  [400, 'This site cannot read the request', 'invalid host', fail, 'GET / HTTP/1.1\r\nHost: a@b\r\n'],
  [
    413,
    'That is too much at once',
    'content too large',
    fail,
    'POST / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 9007199254740993\r\n',
  ],
  [
    417,
    'Expectation failed',
    'expectation failed',
    fail,
    'POST / HTTP/1.1\r\nHost: site.example\r\nExpect: miracles\r\nContent-Length: 1\r\n',
  ],
  [
    421,
    'This is not the site that you asked for',
    'misdirected request',
    fail,
    'GET / HTTP/1.1\r\nHost: other.example\r\n',
  ],
  [
    426,
    'This address is for WebSockets',
    'upgrade required',
    upgrade,
    'GET / HTTP/1.1\r\nHost: site.example\r\n',
  ],
  [
    431,
    'Your browser sent too much with the request',
    'head too large',
    fail,
    `GET / HTTP/1.1\r\nHost: site.example\r\n`,
  ],
  [
    501,
    'Method not implemented',
    'method not implemented',
    fail,
    'TRACE / HTTP/1.1\r\nHost: site.example\r\n',
  ],
])('over HTTP/1.1 %i', (status, title, line, fetch, request) => {
  // Browsers send Accept before cookies.
  const more = status === 431 ? pad('Cookie', HEAD_BYTES) : ''
  const [first, ...others] = request.split(/(?<=\r\n)/)
  const asked = (fields: string): string => `${first}${fields}${others.join('')}${more}\r\n`

  test('is a document in a browser', async () => {
    const answer = await told(asked(`Accept: ${ACCEPT}\r\nSec-Fetch-Mode: navigate\r\n`), fetch)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toContain('\r\ncontent-type: text/html; charset=utf-8\r\n')
    expect(head).toContain('\r\ncache-control: no-store\r\n')
    expect(head).toContain(
      "\r\ncontent-security-policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:;",
    )
    expect(head).toContain(`\r\ncontent-length: ${body.length}`)
    expectDocument(body, title)
  })

  test.each<[who: string, fields: string]>([
    ['curl', 'Accept: */*\r\n'],
    ['a script', `Accept: ${ACCEPT}\r\nSec-Fetch-Mode: cors\r\n`],
    ['a program that says nothing', ''],
  ])('is a line for %s', async (_, fields) => {
    const answer = await told(asked(fields), fetch)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\n\r\n${line}$`, 's'))
    expect(answer).toContain('content-type: text/plain;charset=UTF-8\r\n')
  })
})

describe('over HTTP/1.1', () => {
  test('a request with too many fields gets the document, too', async () => {
    const request = `GET / HTTP/1.1\r\nAccept: ${ACCEPT}\r\n${MANY}\r\n`
    expect(await converse(request)).toContain('<title>Your browser sent too much with the request</title>')
  })

  test('an address that is too long is refused before the browser says who it is', async () => {
    expect(await converse(`GET /${'x'.repeat(HEAD_BYTES)} HTTP/1.1\r\nAccept: ${ACCEPT}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 414 .*request line too long$/s,
    )
  })

  test('HEAD gets the length of the document, and the connection goes on after a 500', async () => {
    const fields = `Host: site.example\r\nAccept: ${ACCEPT}\r\n\r\n`
    const visitor = await new Http1Visitor(fail).send(`GET / HTTP/1.1\r\n${fields}`)
    const whole = await visitor.receive('</html>\n')
    await visitor.send(`HEAD / HTTP/1.1\r\n${fields}`)
    expect(await visitor.receive('\r\n\r\n')).toBe(whole.slice(0, whole.indexOf('\r\n\r\n') + 4))
    expect(visitor.errors).toHaveLength(2)
  })

  test('a body that the handler began stays what it is, and breaks off', async () => {
    const begun = Promise.withResolvers<void>()
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
        pull: async (controller) => {
          await begun.promise
          controller.error(new Error(SECRET))
        },
      })
    const visitor = await new Http1Visitor(() => new Response(body())).send(
      `GET / HTTP/1.1\r\nHost: site.example\r\nAccept: ${ACCEPT}\r\n\r\n`,
    )
    expect(await visitor.receive('begun')).toMatch(/^HTTP\/1.1 200 /)
    begun.resolve()
    expect(await visitor.rest().catch(String)).not.toContain('<html')
  })

  test('the host in the document is one of the site, as text', async () => {
    const answer = await converse(`GET / HTTP/1.1\r\nHost: site.example\r\nAccept: ${ACCEPT}\r\n\r\n`, fail)
    expect(answer).toContain('<p><a href="/">site.example</a></p>')
    const foreign = await converse(`GET / HTTP/1.1\r\nHost: other.example\r\nAccept: ${ACCEPT}\r\n\r\n`, fail)
    expect(foreign).not.toContain('other.example')
  })
})

describe.each<[status: string, title: string, line: string, fields: Fields]>([
  ['500', 'This site could not answer', 'Internal Server Error', GET],
  [
    '421',
    'This is not the site that you asked for',
    'misdirected request',
    [...GET.filter(([name]) => name !== ':authority'), [':authority', 'other.example']],
  ],
  [
    '431',
    'Your browser sent too much with the request',
    'head too large',
    [...GET, ['cookie', 'v'.repeat(HEAD_BYTES - 200)]],
  ],
  [
    '501',
    'Method not implemented',
    'method not implemented',
    [...GET.filter(([name]) => name !== ':method'), [':method', 'TRACE']],
  ],
])('over HTTP/2 %s', (status, title, line, fields) => {
  const ask = async (more: Fields) => {
    const visitor = await Http2Visitor.open(fail)
    const pseudo = fields.filter(([name]) => name.startsWith(':'))
    const bytes = block([...pseudo, ...more, ...fields.filter(([name]) => !name.startsWith(':'))])
    const parts = Math.ceil(bytes.length / PART)
    for (let part = 0; part < parts; part++) {
      const flags = (part === 0 ? END_STREAM : 0) | (part === parts - 1 ? END_HEADERS : 0)
      const payload = bytes.subarray(part * PART, (part + 1) * PART)
      await visitor.send(frame(part === 0 ? HEADERS : CONTINUATION, flags, 1, payload))
    }
    return visitor.response(1)
  }

  test('is a document in a browser', async () => {
    const {
      status: given,
      headers,
      body,
    } = await ask([
      ['accept', ACCEPT],
      ['sec-fetch-mode', 'navigate'],
    ])
    expect([given, headers['content-type'], headers['cache-control']]).toEqual([
      status,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(headers['content-length']).toBe(String(body.length))
    expectDocument(body, title)
  })

  test('is a line for a program', async () => {
    expect(await ask([['accept', '*/*']])).toMatchObject({ status, body: line })
  })
})

/** The most bytes of a frame. */
const PART = 16_000
