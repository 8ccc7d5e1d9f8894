// Request line and header section, RFC 9112 §2, §3 and §5: what is read, and what is refused before any handler.

import { describe, expect, test } from 'vitest'
import { REQUEST_LINE_BYTES } from '../../src/http1/limits.ts'
import { HEAD_BYTES, HEAD_FIELDS } from '../../src/semantics/limits.ts'
import { converse, latin1, refusalOf, Visitor } from './visitor.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain;charset=UTF-8\r\ncontent-length: 2\r\n\r\nok'

describe('RFC 9112 §3 request line', () => {
  test('a request in one piece, and byte by byte', async () => {
    const bytes = 'GET /a?b=c HTTP/1.1\r\nHost: site.example\r\n\r\n'
    expect(await converse(bytes)).toBe(OK)
    const visitor = await new Visitor().send(...bytes)
    expect(await visitor.receive('ok')).toBe(OK)
    expect(visitor.requests[0]?.url).toBe('https://site.example/a?b=c')
    expect(visitor.requests[0]?.method).toBe('GET')
  })

  test('§2.2 one empty line before the request line is ignored, a second is not', async () => {
    expect(await converse('\r\nGET / HTTP/1.1\r\nHost: site.example\r\n\r\n')).toBe(OK)
    expect(await refusalOf('\r\n\r\nGET / HTTP/1.1\r\nHost: site.example\r\n\r\n')).toBe(400)
  })

  test.each([
    ['two spaces', 'GET  / HTTP/1.1', 400],
    ['a tab', 'GET\t/ HTTP/1.1', 400],
    ['leading space', ' GET / HTTP/1.1', 400],
    ['trailing space', 'GET / HTTP/1.1 ', 400],
    ['no version (HTTP/0.9)', 'GET /', 400],
    ['lower-case name of the protocol', 'GET / http/1.1', 400],
    ['another protocol', 'GET / ICE/1.0', 400],
    ['a version of many digits', 'GET / HTTP/1.10', 400],
    ['HTTP/2.0', 'PRI * HTTP/2.0', 505],
    ['HTTP/1.2', 'GET / HTTP/1.2', 505],
    ['no target', 'GET HTTP/1.1', 400],
    ['a method that is no token', 'G@T / HTTP/1.1', 400],
    ['CONNECT', 'CONNECT site.example:443 HTTP/1.1', 501],
    ['TRACE', 'TRACE / HTTP/1.1', 501],
    ['NUL in the target', 'GET /\0 HTTP/1.1', 400],
    ['an octet above ASCII in the target', 'GET /\xe4 HTTP/1.1', 400],
    ['DEL in the target', 'GET /\x7f HTTP/1.1', 400],
    ['bare CR in the target', 'GET /\r HTTP/1.1', 400],
  ])('refused: %s', async (_, line, status) => {
    const target = line.startsWith('CONNECT') ? 'site.example:443' : 'site.example'
    expect(await refusalOf(`${line}\r\nHost: ${target}\r\n\r\n`)).toBe(status)
  })

  test('a refused HEAD gets no content', async () => {
    expect(await converse('HEAD / HTTP/1.1\r\nHost: other.example\r\n\r\n')).toBe(
      'HTTP/1.1 421 misdirected request\r\ncontent-type: text/plain;charset=UTF-8\r\ncontent-length: 19\r\nconnection: close\r\n\r\n',
    )
  })
})

describe('RFC 9112 §2.2 line ends', () => {
  test.each([
    ['bare LF after the request line', 'GET / HTTP/1.1\nHost: site.example\r\n\r\n'],
    ['bare LF after a field', 'GET / HTTP/1.1\r\nHost: site.example\n\r\n'],
    ['bare LF as the empty line', 'GET / HTTP/1.1\r\nHost: site.example\r\n\n'],
    ['bare LF everywhere', 'GET / HTTP/1.1\nHost: site.example\n\n'],
    ['bare CR in a value', 'GET / HTTP/1.1\r\nHost: site.example\r\nA: b\rc: d\r\n\r\n'],
    ['two CRs', 'GET / HTTP/1.1\r\nHost: site.example\r\r\n\r\n'],
    ['bare CR as a line end', 'GET / HTTP/1.1\rHost: site.example\r\r\r\n'],
  ])('refused: %s', async (_, bytes) => {
    expect(await refusalOf(bytes)).toBe(400)
  })

  test('a bare LF is refused at once, not when the rest has come', async () => {
    const visitor = await new Visitor().send('GET / HTTP/1.1\n')
    expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('RFC 9112 §5 field lines', () => {
  async function fieldOf(line: string): Promise<string | null | undefined> {
    const visitor = await new Visitor().send(`GET / HTTP/1.1\r\nHost: site.example\r\n${line}\r\n\r\n`)
    await visitor.receive('ok')
    return visitor.requests[0]?.headers.get('a')
  }

  test.each([
    ['white space around the value is not part of it', 'A: \t b \t ', 'b'],
    ['none is needed', 'A:b', 'b'],
    ['an empty value', 'A:', ''],
    ['only white space', 'A: \t', ''],
    ['HTAB and spaces inside', 'A: b\t c', 'b\t c'],
    ['obs-text is kept as it is, NBSP and the C1 range, too', 'A: \xa0\x80\xff\xa0', '\xa0\x80\xff\xa0'],
    ['names are case-insensitive', 'a: b', 'b'],
    ['repeated fields are a list', 'A: b\r\nA: c', 'b, c'],
  ])('%s', async (_, line, value) => {
    expect(await fieldOf(line)).toBe(value)
  })

  test('every token character is fine in a name', async () => {
    const visitor = await new Visitor().send(
      "GET / HTTP/1.1\r\nHost: site.example\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n",
    )
    await visitor.receive('ok')
    expect(visitor.requests[0]?.headers.get("!#$%&'*+-.^_`|~09azaz")).toBe('b')
  })

  test.each([
    ['white space before the colon', 'A : b'],
    ['a tab before the colon', 'A\t: b'],
    ['obs-fold with a space', 'A: b\r\n c'],
    ['obs-fold with a tab', 'A: b\r\n\tc'],
    ['no name', ': b'],
    ['no colon', 'A'],
    ['a separator in the name', 'A(b): c'],
    ['an octet above ASCII in the name', '\xc3\x84: b'],
    ['NUL in the name', 'A\0: b'],
    ['NUL in the value', 'A: b\0c'],
    ['a control character in the value', 'A: b\x01c'],
    ['DEL in the value', 'A: b\x7fc'],
    ['VT, which is no white space here', 'A: \x0bb'],
  ])('refused: %s', async (_, line) => {
    expect(await refusalOf(`GET / HTTP/1.1\r\nHost: site.example\r\n${line}\r\n\r\n`)).toBe(400)
  })

  test('a leading fold in the first field line is refused', async () => {
    expect(await refusalOf('GET / HTTP/1.1\r\n Host: site.example\r\n\r\n')).toBe(400)
  })
})

test('a host with a final dot is the same host', async () => {
  const visitor = await new Visitor().send('GET /a HTTP/1.1\r\nHost: Site.Example.\r\n\r\n')
  await visitor.receive('ok')
  const [request] = visitor.requests
  expect([request!.url, request!.headers.get('host')]).toEqual(['https://site.example/a', 'site.example'])
  expect(await refusalOf('GET / HTTP/1.1\r\nHost: site.example..\r\n\r\n')).toBe(421)
})

describe('limits of the head', () => {
  const HOST = 'Host: site.example\r\n'

  test('request line: the last octet that fits, and one more', async () => {
    const target = `/${'a'.repeat(REQUEST_LINE_BYTES - 'GET / HTTP/1.1'.length)}`
    expect(await converse(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`)).toBe(OK)
    expect(await refusalOf(`GET ${target}a HTTP/1.1\r\n${HOST}\r\n`)).toBe(414)
  })

  test('a request line without an end is refused when it is too long', async () => {
    expect(await refusalOf('a'.repeat(REQUEST_LINE_BYTES + 2))).toBe(414)
  })

  test('head: the last octet that fits, and one more', async () => {
    const start = `GET / HTTP/1.1\r\n${HOST}A: `
    const value = 'a'.repeat(HEAD_BYTES - start.length - 4)
    expect(await converse(`${start}${value}\r\n\r\n`)).toBe(OK)
    expect(await refusalOf(`${start}${value}a\r\n\r\n`)).toBe(431)
  })

  test('a head without an end is refused when it is too large', async () => {
    expect(await refusalOf(`GET / HTTP/1.1\r\n${HOST}A: ${'a'.repeat(HEAD_BYTES)}`)).toBe(431)
  })

  test('field lines: as many as are allowed, and one more', async () => {
    const fields = 'A: b\r\n'.repeat(HEAD_FIELDS - 1)
    expect(await converse(`GET / HTTP/1.1\r\n${HOST}${fields}\r\n`)).toBe(OK)
    expect(await refusalOf(`GET / HTTP/1.1\r\n${HOST}${fields}A: b\r\n\r\n`)).toBe(431)
  })

  test('the largest head costs linear time: byte by byte, and as white space before a last character', async () => {
    const head = latin1.encode(`GET / HTTP/1.1\r\n${HOST}A: b${' '.repeat(HEAD_BYTES - 100)}c\r\n\r\n`)
    const before = process.threadCpuUsage()
    const visitor = new Visitor()
    for (let i = 0; i < head.length; i++) await visitor.send(head.subarray(i, i + 1))
    expect(await visitor.receive('ok')).toBe(OK)
    // Quadratic reading would look at two thousand million bytes.
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
  })
})
