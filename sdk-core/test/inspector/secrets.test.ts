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
])('the parameter %s', (name) => {
  expect(maskedUrl(`/a?page=2&${name}=abc#part`)).toBe(`/a?page=2&${name}=${M}#part`)
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
  expect(unmaskedUrl(`/b?token=${encodeURIComponent(M)}&x=2`, '/a?x=1&token=abc')).toBe('/b?token=abc&x=2')
})
