// Which fields and parameters are secrets, and what is left of them.

import { expect, test } from 'vitest'
import { maskedFields, maskedUrl, unmaskedFields, unmaskedUrl } from '../../src/inspector/secrets.ts'

const M = '••••••'
const masked = (name: string, value: string): string => maskedFields([[name, value]], false)[0]!.value

test.each([
  ['authorization', 'Bearer abc', `Bearer ${M}`],
  ['proxy-authorization', 'abc', M],
  ['cookie', 'sid=abc; theme=dark', `sid=${M}; theme=${M}`],
  ['set-cookie', 'sid=abc; Path=/; HttpOnly; odd=abc', `sid=${M}; Path=/; HttpOnly; ${M}`],
  ['x-api-key', 'abc', M],
  ['x-auth-token', 'abc', M],
  ['x-amz-security-token', 'abc', M],
  ['x-csrf-token', 'abc', M],
  ['apikey', 'abc', M],
  ['x-payment', 'abc', M],
  ['payment-signature', 'abc', M],
  ['location', '/next?token=abc&page=1', `/next?token=${M}&page=1`],
  ['referer', 'https://a.example/?access_token=abc', `https://a.example/?access_token=${M}`],
  ['location', 'https://me:p@ss@a.example/', `https://${M}@a.example/`],
  ['location', '/next#access_token=abc&state=1', `/next#access_token=${M}&state=1`],
  ['hx-current-url', 'https://a.example/?token=abc', `https://a.example/?token=${M}`],
  ['link', '</a?token=abc>; rel=next', `</a?token=${M}`],
  ['authorization', 'key=abc, other=def', M],
  ['set-cookie', 'a=1; Path=/\nsid=abc; HttpOnly, sid=def', `a=${M}; ${M}; ${M}`],
  ['cookie2', 'sid=abc', M],
  ['x-signature-key', 'abc', M],
  ['x-sessionid', 'abc', M],
  ['dpop', 'abc', M],
])('%s: %s', (name, value, shown) => {
  expect(masked(name, value)).toBe(shown)
  expect(maskedFields([[name, value]], true)).toEqual([{ name, value }])
})

test.each([
  ['content-type', 'application/json'],
  ['x-hub-signature-256', 'sha256=abc'],
  ['stripe-signature', 't=1,v1=abc'],
  ['sec-websocket-key', 'abc'],
  ['author', 'me'],
  ['signature-input', 'sig1=("@method");keyid="abc"'],
  ['x-signature-ed25519', 'abc'],
  ['authorization', ''],
])('%s is shown', (name, value) => expect(masked(name, value)).toBe(value))

test.each([
  'token',
  'access_token',
  'accessToken',
  'id-token',
  'key',
  'apiKey',
  'api_key',
  'secret',
  'client_secret',
  'signature',
  'X-Amz-Signature',
  'X-Amz-Security-Token',
  'sig',
  'password',
  'code',
  'tok%65n',
  'sessionId',
  'PHPSESSID',
  'SAMLResponse',
  'user[password]',
])('the parameter %s', (name) => {
  expect(maskedUrl(`/a?page=2&${name}=abc#part`)).toBe(`/a?page=2&${name}=${M}#part`)
})

test.each([
  ['/a;jsessionid=abc/b;v=1?x=1', `/a;jsessionid=${M}/b;v=1?x=1`],
  ['/a?x=1;token=abc;y=2&z=3', `/a?x=1;token=${M}&z=3`],
  ['/a?next=/b?token=abc', `/a?next=/b?token=${M}`],
])('the URL %s', (url, shown) => {
  expect(maskedUrl(url)).toBe(shown)
  expect(unmaskedUrl(shown, url)).toBe(url)
  expect(unmaskedUrl(`https://a.example${shown}`, `https://a.example${url}`)).toBe(`https://a.example${url}`)
})

test.each(['page', 'encoded', 'author', 'assignment', 'q'])('the parameter %s is shown', (name) => {
  expect(maskedUrl(`/a?${name}=abc`)).toBe(`/a?${name}=abc`)
})

test('an edit of what was given out masked keeps the secrets', () => {
  const before: [string, string][] = [
    ['authorization', 'Bearer abc'],
    ['cookie', 'sid=abc'],
  ]
  const edited: [string, string][] = [
    ['Authorization', `Bearer ${M}`],
    ['cookie', 'sid=other'],
    ['x-new', '1'],
  ]
  expect(unmaskedFields(edited, before)).toEqual([
    ['Authorization', 'Bearer abc'],
    ['cookie', 'sid=other'],
    ['x-new', '1'],
  ])
  expect(unmaskedUrl(`/a?token=${M}&token=${M}`, '/a?token=1&token=2')).toBe('/a?token=1&token=2')
  expect(unmaskedUrl(`/b?token=${encodeURIComponent(M)}&x=2`, '/a?x=1&token=abc')).toBe('/b?token=abc&x=2')
})
