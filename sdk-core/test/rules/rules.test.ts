// What each rule does to requests and responses, with a Request and on the direct path.

import { describe, expect, test } from 'vitest'
import type { TrafficRules } from '../../src/rules/options.ts'
import type { Field } from '../../src/semantics/fields.ts'
import { ask, type Question, SITE, valuesOf, WAYS } from './ways.ts'

describe.each(WAYS)('by %s', (way) => {
  test.each<[redirect: TrafficRules['redirects'], path: string, location: string | undefined]>([
    [{ path: '/old', to: '/new' }, '/old?a=b', '/new?a=b'],
    [{ path: '/old', to: '/new?c=d' }, '/old?a=b', '/new?c=d'],
    [{ path: '/old', to: '/new#part' }, '/old', '/new#part'],
    [{ path: '/old', to: '/new' }, '/old/', undefined],
    [{ path: '/old/*', to: '/new/*' }, '/old/a/b%20c?d', '/new/a/b%20c?d'],
    [{ path: '/old/*', to: '/new/*' }, '/old/', '/new/'],
    [{ path: '/old/*', to: '/new/*' }, '/old', undefined],
    [{ path: '/old/*', to: '/new' }, '/old/a', '/new'],
    [{ path: '/caf%C3%A9/*', to: '/*' }, '/café/a', '/a'],
    [{ path: '/café/*', to: '/é/*' }, '/caf%c3%a9/%C3%A9', '/%C3%A9/%C3%A9'],
    [
      [
        { path: '/a/b', to: '/1' },
        { path: '/a/*', to: '/2' },
      ],
      '/a/b',
      '/1',
    ],
    [
      [
        { path: '/a/b', to: '/1' },
        { path: '/a/*', to: '/2' },
      ],
      '/a/c',
      '/2',
    ],
    [{ to: 'https://other.example' }, '/a?b', 'https://other.example/?b'],
    [{ to: 'https://other.example/*' }, '/a/b?c', 'https://other.example/a/b?c'],
    [{ path: '/docs/*', to: 'http://other.example:8080/x/*' }, '/docs/a', 'http://other.example:8080/x/a'],
    // What follows the host in a browser's eyes cannot become another host.
    [{ path: '/old/*', to: '/*' }, '/old//evil.example/a', '/evil.example/a'],
    [{ path: '/old/*', to: '/*' }, '/old/\\evil.example', '/evil.example'],
    [{ path: '/old/*', to: '/*' }, '//old///evil.example', '/evil.example'],
    [{ to: 'https://other.example/*' }, '//evil.example', 'https://other.example/evil.example'],
    [{ to: 'https://other.example/*' }, '/@evil.example', 'https://other.example/@evil.example'],
    [{ to: 'https://other.example/*' }, '/.evil.example', 'https://other.example/.evil.example'],
    [{ path: '/old/*', to: '/new/*' }, '/old/../secret', undefined],
    [{ path: '/old/*', to: '/new/*' }, '/old/%2e%2e/secret', undefined],
  ])('redirects %j: %s leads to %s', async (redirects, path, location) => {
    const { status, fields, seen } = await ask(way, { redirects }, { path })
    if (location === undefined) expect(seen?.path).toBeDefined()
    else {
      expect(status).toBe(302)
      expect(valuesOf(fields, 'location')).toEqual([location.startsWith('/') ? SITE + location : location])
      expect(seen).toBeUndefined()
    }
  })

  test('a redirect has the status that it names', async () => {
    const { status } = await ask(way, { redirects: { to: 'https://other.example', status: 308 } })
    expect(status).toBe(308)
  })

  test.each<[rewrite: TrafficRules['rewrites'], path: string, handled: string]>([
    [{ path: '/api/*', to: '/*' }, '/api/v1/a%20b?c=%2F', '/v1/a%20b?c=%2F'],
    [{ path: '/api/*', to: '/*' }, '/api/', '/'],
    [{ path: '/api/*', to: '/*' }, '/api', '/api'],
    [{ path: '/api/*', to: '/*' }, '/apis/a', '/apis/a'],
    [{ path: '/api/*', to: '/*' }, '/%61pi/a', '/a'],
    [{ path: '/api/*', to: '/*' }, '//api//a//b', '/a//b'],
    [{ path: '/v1/*', to: '/api/v1/*' }, '/v1/a', '/api/v1/a'],
    [{ to: '/base/*' }, '/a?b', '/base/a?b'],
    [{ path: '/app/*', to: '/index.html' }, '/app/a/b?c', '/index.html?c'],
    [{ path: '/', to: '/home' }, '/', '/home'],
    [
      [
        { path: '/a/*', to: '/b/*' },
        { path: '/b/*', to: '/c/*' },
      ],
      '/a/x',
      '/b/x',
    ],
    [{ path: '/api/*', to: '/*' }, '/other"a', '/other"a'],
  ])('rewrites %j: %s becomes %s', async (rewrites, path, handled) => {
    const { status, seen } = await ask(way, { rewrites }, { path })
    expect(status).toBe(200)
    expect(decodeURI(seen!.path)).toBe(decodeURI(handled))
  })

  test.each([
    '/api/..%2F-secret',
    '/api/%2e%2e%2F-secret',
    '/api/%252e%252e%252fa',
    '/api/..%5ca',
    '/api/..;/a',
    '/a/%ff',
  ])('a path with two meanings is refused where a rule depends on it: %s', async (path) => {
    for (const rules of [
      { rewrites: { path: '/api/*', to: '/*' } },
      { rewrites: { to: '/base/*' } },
      { redirects: { to: 'https://other.example/base/*' } },
      { requestBody: { path: '/api/*', maxSize: 1 } },
    ] satisfies TrafficRules[]) {
      const { status, seen } = await ask(way, rules, { path })
      expect([status, seen]).toEqual([400, undefined])
    }
    const { seen } = await ask(way, { responseHeaders: { set: { 'X-A': 'b' } } }, { path })
    expect(seen!.path).toBe(new URL(SITE + path).pathname)
  })

  const maintained = { text: 'Back <soon>', retryAfter: 60, except: ['/health', '/status/*'] }
  test.each<[rule: TrafficRules['maintenance'], path: string, status: number]>([
    [true, '/', 503],
    [false, '/', 200],
    [{}, '/', 503],
    [maintained, '/', 503],
    [maintained, '/health', 200],
    [maintained, '/health/', 503],
    [maintained, '/status/a', 200],
    [maintained, '/status/..%2F-admin', 503],
    [maintained, '/status/%2e%2e/admin', 503],
    [maintained, '/status/%ff', 503],
    [{ path: '/app/*' }, '/app/a', 503],
    [{ path: '/app/*' }, '/', 200],
    [[{ path: '/a' }, { path: '/b' }], '/b', 503],
  ])('maintenance %j: %s is %d', async (maintenance, path, status) => {
    expect((await ask(way, { maintenance }, { path })).status).toBe(status)
  })

  test('a maintenance page is for people, and a line for programs', async () => {
    const rules = { maintenance: maintained }
    const line = await ask(way, rules)
    expect([line.text, valuesOf(line.fields, 'retry-after')]).toEqual(['Back <soon>\n', ['60']])
    expect(valuesOf(line.fields, 'cache-control')).toEqual(['no-store'])
    const page = await ask(way, rules, { fields: [['accept', 'text/html,*/*']] })
    expect(page.text).toContain('<p class="lines">Back &#60;soon&#62;</p>')
    expect(valuesOf(page.fields, 'content-type')).toEqual(['text/html; charset=utf-8'])
    expect(valuesOf(page.fields, 'content-security-policy')[0]).toContain("default-src 'none'")
  })

  test.each<[rules: TrafficRules['requestHeaders'], sent: Field[], got: Field[]]>([
    [{ set: { 'X-A': 'new' } }, [['x-a', 'old']], [['x-a', 'new']]],
    // Servers that turn fields into variables take these for the same.
    [{ set: { 'X-A': 'new' } }, [['x_a', 'old']], [['x-a', 'new']]],
    [
      { remove: ['x-a'] },
      [
        ['x_a', 'old'],
        ['x-a', 'old'],
        ['x-b', 'b'],
      ],
      [['x-b', 'b']],
    ],
    [{ add: { Cookie: 'b=2' } }, [['cookie', 'a=1']], [['cookie', 'a=1; b=2']]],
    [[{ set: { 'X-A': '1' } }, { set: { 'X-A': '2' } }], [], [['x-a', '2']]],
    [
      [
        { path: '/other', set: { 'X-A': '1' } },
        { path: '/', set: { 'X-B': '2' } },
      ],
      [],
      [['x-b', '2']],
    ],
    // A field that the site sets is none of the visitor's connection.
    [
      { set: { 'X-A': 'new' } },
      [['connection', 'close, X-A, x_a, x-b']],
      [
        ['connection', 'close, x-b'],
        ['x-a', 'new'],
      ],
    ],
    [{ set: { 'X-A': 'new' } }, [['connection', 'X-A']], [['x-a', 'new']]],
  ])('requestHeaders %j', async (requestHeaders, sent, got) => {
    const { seen } = await ask(way, { requestHeaders }, { fields: sent })
    const joined = new Map<string, string>()
    for (const [name, value] of seen!.fields)
      joined.set(name, joined.has(name) ? `${joined.get(name)}; ${value}` : value)
    expect([...joined].toSorted()).toEqual(got.toSorted())
  })

  test('a request keeps its method, its query and its content', async () => {
    const rules: TrafficRules = { requestHeaders: { set: { 'X-A': 'b' } }, timeouts: { response: 30 } }
    const { seen } = await ask(way, rules, { method: 'PROPFIND', path: '/a?b=%20', content: ['one', 'two'] })
    expect(seen).toMatchObject({ method: 'PROPFIND', path: '/a?b=%20', content: 'onetwo' })
  })

  test.each<[rules: TrafficRules['responseHeaders'], answered: Field[], got: Field[]]>([
    [
      { set: { 'X-A': 'new' } },
      [
        ['x-a', 'old'],
        ['x-b', 'b'],
      ],
      [
        ['x-b', 'b'],
        ['x-a', 'new'],
      ],
    ],
    [
      { remove: ['Server'] },
      [
        ['server', 'old'],
        ['x-b', 'b'],
      ],
      [['x-b', 'b']],
    ],
    [
      { add: { 'Set-Cookie': 'b=2' } },
      [['set-cookie', 'a=1']],
      [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
    ],
    [
      { set: { 'X-A': 'a' }, add: { 'x-a': 'b' } },
      [],
      way === 'direct'
        ? [
            ['x-a', 'a'],
            ['x-a', 'b'],
          ]
        : [['x-a', 'a, b']],
    ],
    [{ path: '/other', set: { 'X-A': 'new' } }, [['x-a', 'old']], [['x-a', 'old']]],
  ])('responseHeaders %j', async (responseHeaders, answered, got) => {
    const { fields } = await ask(way, { responseHeaders }, {}, answered)
    const named = fields.map(([name, value]) => [name, value])
    expect(named.filter(([name]) => name !== 'content-type').toSorted()).toEqual(got.toSorted())
  })

  test('the header rules hold for what the rules answer themselves', async () => {
    const responseHeaders = { set: { 'X-Frame-Options': 'DENY' } }
    for (const [rules, question] of [
      [{ maintenance: true }, {}],
      [{ redirects: { to: 'https://other.example' } }, {}],
      [{ requestBody: { maxSize: 2 } }, { method: 'POST', content: ['abc'] }],
      [
        { requestBody: { maxSize: 2 } },
        { method: 'POST', fields: [['content-length', '3']], content: ['abc'] },
      ],
      [{ rewrites: { path: '/a', to: '/b' } }, { path: '/%2f' }],
    ] as [TrafficRules, Question][]) {
      const { status, fields } = await ask(way, { ...rules, responseHeaders }, question)
      expect(status).toBeGreaterThan(299)
      expect(valuesOf(fields, 'x-frame-options')).toEqual(['DENY'])
    }
  })

  test.each<[size: number, content: string[], length: boolean, status: number]>([
    [6, ['abc', 'def'], false, 200],
    [5, ['abc', 'def'], false, 413],
    [5, ['abcdef'], true, 413],
    [6, ['abcdef'], true, 200],
    [0, ['a'], false, 413],
  ])('content of %d bytes at most: %j, length %j, is %d', async (maxSize, content, hasLength, status) => {
    const fields: Field[] = hasLength ? [['content-length', String(content.join('').length)]] : []
    const found = await ask(way, { requestBody: { maxSize } }, { method: 'POST', content, fields })
    expect(found.status).toBe(status)
    expect(found.seen?.content).toBe(status === 200 ? content.join('') : undefined)
  })

  test('the order is maintenance, redirects, CORS, content', async () => {
    const preflight: Question = {
      method: 'OPTIONS',
      fields: [
        ['origin', 'https://a.example'],
        ['access-control-request-method', 'PUT'],
        ['content-length', '9'],
      ],
    }
    const all: TrafficRules = {
      responseHeaders: { set: { 'X-A': 'b' } },
      requestBody: { maxSize: 1 },
      cors: { origins: ['https://a.example'] },
      redirects: { to: 'https://other.example' },
      maintenance: true,
    }
    const statuses: number[] = []
    for (const last of ['maintenance', 'redirects', 'cors', 'requestBody'] as const) {
      statuses.push((await ask(way, all, preflight)).status)
      delete all[last]
    }
    statuses.push((await ask(way, all, preflight)).status)
    expect(statuses).toEqual([503, 302, 204, 413, 200])
  })

  test('`path` is what the visitor asked for, also behind a rewrite', async () => {
    const rules: TrafficRules = {
      rewrites: { path: '/api/*', to: '/*' },
      requestHeaders: [
        { path: '/api/*', set: { 'X-A': '1' } },
        { path: '/v1', set: { 'X-B': '2' } },
      ],
    }
    const { seen } = await ask(way, rules, { path: '/api/v1' })
    expect([seen!.path, valuesOf(seen!.fields, 'x-a'), valuesOf(seen!.fields, 'x-b')]).toEqual([
      '/v1',
      ['1'],
      [],
    ])
  })
})
