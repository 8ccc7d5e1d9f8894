// Wrong rules: the error names the rule as it is written, and says what is possible.

import { expect, test } from 'vitest'
import type { TrafficRules } from '../../src/rules/options.ts'
import { parseRules } from '../../src/rules/parse.ts'

const TO = { path: '/old', to: '/new' }

test.each<[rules: unknown, message: string]>([
  [[], 'rules has to be an object with maintenance, redirects, rewrites, cors'],
  [{ redirect: [] }, 'rules.redirect is not known; known are maintenance, redirects'],
  [{ redirects: [{ ...TO, form: 1 }] }, 'rules.redirects[0].form is not known; known are path, to, status'],
  [{ redirects: {} }, 'rules.redirects.to is missing'],
  [
    { redirects: [TO, { to: 1 }] },
    'rules.redirects[1].to has to be a path such as "/new/*", or an http(s) URL',
  ],
  [{ redirects: { path: '/old', to: '/new/*' } }, 'rules.redirects.to ends with /*, so path has to'],
  [
    { redirects: { ...TO, status: 200 } },
    'rules.redirects.status has to be 301, 302, 303, 307, 308, not 200',
  ],
  [{ redirects: { ...TO, path: 'old' } }, 'rules.redirects.path has to be a path such as "/exactly/this"'],
  [{ redirects: { ...TO, path: '/a*' } }, 'rules.redirects.path has to be'],
  [{ redirects: { ...TO, path: '/a/../b' } }, 'rules.redirects.path has to be'],
  [{ redirects: { ...TO, path: '/a%2fb' } }, 'rules.redirects.path has to be'],
  [{ redirects: { ...TO, path: '/a?b' } }, 'rules.redirects.path has to be'],
  [{ redirects: { ...TO, path: '/a%zz' } }, 'rules.redirects.path has to be'],
  // Addresses that browsers read as those of other sites, or that run scripts.
  [{ redirects: { to: '//evil.example' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: '/\\evil.example' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: '/\t/evil.example' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: 'javascript:alert(1)' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: 'evil.example' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: 'https:evil.example' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: 'https://ann:secret@site.example/' } }, 'rules.redirects.to must not have a name'],
  [{ redirects: { to: 'https://*.example/' } }, 'rules.redirects.to may have * at the end of its path alone'],
  [
    { redirects: { to: 'https://site.example*' } },
    'rules.redirects.to may have * at the end of its path alone',
  ],
  [{ redirects: { to: '/new/*?a=b' } }, 'rules.redirects.to may have * at the end of its path alone'],
  [{ redirects: { to: 'https://site.example/a\r\nX: y' } }, 'rules.redirects.to has to be a path'],
  [{ redirects: { to: '/a' } }, 'rules.redirects.to leads to a path that the rule itself redirects'],
  [{ redirects: { path: '/a/*', to: '/a/b/*' } }, 'rules.redirects.to leads to a path'],
  [
    { rewrites: { to: '/a?b' } },
    'rules.rewrites.to has to be a path such as "/new" or "/new/*", without a query',
  ],
  [{ rewrites: { to: '//a' } }, 'rules.rewrites.to has to be a path'],
  [{ rewrites: { to: 'https://other.example' } }, 'rules.rewrites.to has to be a path'],
  [{ mocks: { status: 101 } }, 'rules.mocks.status has to be a status from 200 to 599, not 101'],
  [{ mocks: { body: 1 } }, 'rules.mocks.body has to be a text or bytes'],
  [{ mocks: { body: 'a', json: {} } }, 'rules.mocks.json and body exclude each other'],
  [
    { mocks: { status: 204, body: 'a' } },
    'rules.mocks.body has to be left out: an answer with 204 has no content',
  ],
  [{ mocks: { json: () => {} } }, 'rules.mocks.json has to be a value of JSON'],
  [{ mocks: { method: 'GET ' } }, 'rules.mocks.method[0] has to be one of a method, or a list of methods'],
  [{ mocks: { headers: { 'Content-Length': '1' } } }, 'rules.mocks.headers.Content-Length cannot be changed'],
  [{ mocks: { headers: { 'X-A': 'a\r\nb' } } }, 'rules.mocks.headers.X-A has to be a text of one line'],
  [{ mocks: [{ file: 'a' }] }, 'rules.mocks[0].file is not known; known are path, method, status'],
  [{ maintenance: 'yes' }, 'rules.maintenance has to be an object with path, text, retryAfter, except'],
  [{ maintenance: { text: '' } }, 'rules.maintenance.text has to be a text'],
  [
    { maintenance: { retryAfter: 1.5 } },
    'rules.maintenance.retryAfter has to be a whole number of seconds from 0',
  ],
  [{ maintenance: { except: ['health'] } }, 'rules.maintenance.except[0] has to be one of a list of paths'],
  [{ maintenance: { except: ['/a/*b'] } }, 'rules.maintenance.except[0] has to be a path'],
  [{ cors: {} }, 'rules.cors.origins is missing'],
  [{ cors: { origins: [] } }, 'rules.cors.origins is empty'],
  [{ cors: { origins: 'https://a.example' } }, 'rules.cors.origins has to be a list of origins'],
  [{ cors: { origins: ['https://a.example/'] } }, 'rules.cors.origins[0] has to be one of a list of origins'],
  [{ cors: { origins: ['null'] } }, 'rules.cors.origins[0] has to be one of a list of origins'],
  [{ cors: { origins: ['https://*.example'] } }, 'rules.cors.origins[0] has to be one of a list of origins'],
  [
    { cors: { origins: ['https://a.example:443'] } },
    'rules.cors.origins[0] is not spelled as browsers do: write "https://a.example"',
  ],
  [{ cors: { origins: ['*', 'https://a.example'] } }, 'rules.cors.origins has to have "*" alone'],
  [{ cors: { origins: ['*'], credentials: true } }, 'rules.cors.credentials needs origins that are named'],
  [
    { cors: { origins: ['*'], credentials: 'yes' } },
    'rules.cors.credentials has to be true or false, not "yes"',
  ],
  [
    { cors: { origins: ['*'], maxAge: 90_000 } },
    'rules.cors.maxAge has to be a whole number of seconds from 0 up to 86400',
  ],
  [
    { cors: { origins: ['*'], methods: ['GET, PUT'] } },
    'rules.cors.methods[0] has to be one of a list of methods',
  ],
  [{ requestHeaders: {} }, 'rules.requestHeaders has to have set, add or remove'],
  [{ requestHeaders: { set: ['X-A'] } }, 'rules.requestHeaders.set has to be an object of names and values'],
  [{ requestHeaders: { set: { 'X A': '' } } }, 'rules.requestHeaders.set.X A is not the name of a field'],
  [{ requestHeaders: { set: { 'X-A\r\nX-B': '' } } }, 'is not the name of a field: "X-A\\r\\nX-B"'],
  [
    { requestHeaders: { set: { 'X-A': 'a\r\nX-B: c' } } },
    'rules.requestHeaders.set.X-A has to be a text of one line',
  ],
  [{ requestHeaders: { set: { 'X-A': '\0' } } }, 'rules.requestHeaders.set.X-A has to be a text of one line'],
  [{ requestHeaders: { set: { 'X-A': '€' } } }, 'rules.requestHeaders.set.X-A has to be a text of one line'],
  [
    { requestHeaders: { set: { 'X-A': 1 } } },
    'rules.requestHeaders.set.X-A has to be a text of one line, in Latin letters, not 1',
  ],
  [
    { requestHeaders: { set: { host: 'a' } } },
    'rules.requestHeaders.set.host cannot be changed: the option host',
  ],
  [
    { requestHeaders: { remove: ['Expect'] } },
    'rules.requestHeaders.remove[0] cannot be changed: Expect belongs',
  ],
  ...['Connection', 'Content-Length', 'Transfer-Encoding', 'TE', 'Trailer', 'Upgrade', 'Keep-Alive'].flatMap(
    (name): [unknown, string][] =>
      (['requestHeaders', 'responseHeaders'] as const).map((rule) => [
        { [rule]: { add: { [name]: 'a' } } },
        `rules.${rule}.add.${name} cannot be changed: ${name} belongs to the connection or the framing`,
      ]),
  ),
  [{ responseHeaders: { remove: ['Sec-WebSocket-Accept'] } }, 'cannot be changed'],
  [
    { responseHeaders: { remove: 'X-A' } },
    'rules.responseHeaders.remove has to be a list of names of fields',
  ],
  [{ requestBody: {} }, 'rules.requestBody.maxSize is missing'],
  [{ requestBody: { maxSize: '10 apples' } }, 'rules.requestBody.maxSize has to be a whole number of bytes'],
  [{ requestBody: { maxSize: -1 } }, 'rules.requestBody.maxSize has to be a whole number of bytes'],
  [{ timeouts: { response: 0 } }, 'rules.timeouts.response has to be a number of seconds above 0'],
  [{ timeouts: [{ response: '30s' }] }, 'rules.timeouts[0].response has to be a number of seconds above 0'],
])('%j: %s', (rules, message) => {
  expect(() => parseRules(rules)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) }),
  )
})

test('an error spells names as the file of the user does', () => {
  const spell = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  expect(() => parseRules({ requestBody: {} }, spell)).toThrow('rules.request_body.max_size is missing')
})

test.each<[maxSize: number | string, bytes: number]>([
  [0, 0],
  ['512', Number.NaN],
  ['512B', 512],
  ['10MB', 10_000_000],
  ['1.5 kB', 1500],
  ['2MiB', 2 * 1024 * 1024],
  ['1GiB', 2 ** 30],
])('a size of %j has %d bytes', (maxSize, bytes) => {
  const rules: TrafficRules = { requestBody: { maxSize } }
  if (Number.isNaN(bytes)) expect(() => parseRules(rules)).toThrow('has to be a whole number of bytes')
  else expect(parseRules(rules).requestBody[0]!.maxBytes).toBe(bytes)
})
