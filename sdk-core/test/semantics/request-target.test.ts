// Which resource is asked for: request target and Host, RFC 9112 §3.2, and 421, RFC 9110 §15.5.20.

import { describe, expect, test } from 'vitest'
import { converse, refusalOf, Visitor } from '../http1/visitor.ts'

async function requestOf(bytes: string, canonicalUrl = 'https://site.example'): Promise<Request> {
  const visitor = await new Visitor(undefined, { canonicalUrl }).send(bytes)
  await visitor.receive('ok')
  return visitor.requests[0]!
}

describe('RFC 9112 §3.2 Host', () => {
  test.each([
    ['site.example', 'https://site.example/'],
    ['SITE.Example', 'https://site.example/'],
    ['site.example:443', 'https://site.example/'],
    ['site.example:', 'https://site.example/'],
  ])('%s', async (host, url) => {
    expect((await requestOf(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).url).toBe(url)
  })

  test.each(['site.example:4433', 'SITE.example:4433', 'site.example', 'site.example:'])(
    '%s at a site with a port of its own: URL and Host have that port',
    async (host) => {
      const { url, headers } = await requestOf(
        `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        'https://site.example:4433',
      )
      expect([url, headers.get('host')]).toEqual(['https://site.example:4433/', 'site.example:4433'])
    },
  )

  test.each([
    ['none', ''],
    ['two', 'Host: site.example\r\nHost: site.example\r\n'],
    ['an empty one', 'Host:\r\n'],
    ['a list', 'Host: site.example, site.example\r\n'],
    ['two in one', 'Host: site.example other.example\r\n'],
    ['userinfo', 'Host: user@site.example\r\n'],
    ['a path', 'Host: site.example/a\r\n'],
    ['a query', 'Host: site.example?a\r\n'],
    ['a scheme', 'Host: https://site.example\r\n'],
    ['a port too large', 'Host: site.example:65536\r\n'],
    ['a port that is no number', 'Host: site.example:https\r\n'],
    ['two ports', 'Host: site.example:1:2\r\n'],
    ['a broken IPv6 address', 'Host: [::1\r\n'],
    ['an octet above ASCII', 'Host: site.example\xe4\r\n'],
  ])('400 for %s', async (_, field) => {
    expect(await refusalOf(`GET / HTTP/1.1\r\n${field}\r\n`)).toBe(400)
  })

  test.each([
    'other.example',
    'site.example:80',
    'site.example:34100',
    'site.example.other.example',
    'xsite.example',
    'site.example..',
    '127.0.0.1',
    '[::1]:443',
    'site%2eexample',
  ])('421 for %s', async (host) => {
    expect(await refusalOf(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toBe(421)
  })

  test('HTTP/1.0 may come without, and is then for the canonical host', async () => {
    const visitor = await new Visitor().send('GET /a HTTP/1.0\r\n\r\n')
    expect(await visitor.rest()).toMatch(/connection: close\r\n\r\nok$/)
    expect(visitor.requests[0]?.url).toBe('https://site.example/a')
  })
})

describe('RFC 9112 §3.2 request target', () => {
  test.each([
    ['/a/b?c=d&e', '/a/b?c=d&e'],
    ['//other.example/a', '//other.example/a'],
    ['/a/../b', '/b'],
    ['/%2e%2e/a', '/a'],
    ['/@other.example', '/@other.example'],
    ['/?a=|"<>', '/?a=|%22%3C%3E'],
    ['https://site.example/a', '/a'],
    ['HTTPS://SITE.example/a', '/a'],
    ['https://site.example', '/'],
    ['https://site.example?a', '/?a'],
  ])('%s', async (target, path) => {
    const { url } = await requestOf(`GET ${target} HTTP/1.1\r\nHost: site.example\r\n\r\n`)
    expect(url).toBe(`https://site.example${path}`)
  })

  test('§3.2.2 in absolute-form the authority counts, and takes the place of Host', async () => {
    const request = await requestOf(
      'GET https://site.example:444/ HTTP/1.1\r\nHost: other.example\r\n\r\n',
      'https://site.example:444',
    )
    expect(request.url).toBe('https://site.example:444/')
    expect(request.headers.get('host')).toBe('site.example:444')
  })

  test.each([
    ['a', 400],
    ['?a', 400],
    ['*', 400],
    ['site.example:443', 400],
    ['/a#b', 400],
    ['https:///a', 400],
    ['https://user@site.example/', 400],
    ['https://site.example:65536/', 400],
    ['https:/a', 400],
    ['https://other.example/', 421],
    ['https://site.example:444/', 421],
    ['http://site.example/', 421],
    ['ws://site.example/', 421],
  ])('refused: %s', async (target, status) => {
    expect(await refusalOf(`GET ${target} HTTP/1.1\r\nHost: site.example\r\n\r\n`)).toBe(status)
  })

  test('RFC 9110 §9.3.7 OPTIONS * is about the server, and the connection goes on', async () => {
    const visitor = await new Visitor().send(
      'OPTIONS * HTTP/1.1\r\nHost: site.example\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n',
    )
    const answer = await visitor.receive('ok')
    expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    expect(visitor.requests).toHaveLength(1)
    expect(await refusalOf('OPTIONS * HTTP/1.1\r\nHost: other.example\r\n\r\n')).toBe(421)
  })

  test('OPTIONS of a resource is the handler’s', async () => {
    expect(await converse('OPTIONS /a HTTP/1.1\r\nHost: site.example\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
  })
})
