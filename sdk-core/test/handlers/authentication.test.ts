// RFC 7617 and RFC 6750: who gets to the handler, and what the others are told.

import { describe, expect, test, vi } from 'vitest'
import { allow } from '../../src/handlers/allow-list.ts'
import { basicAuth, bearer } from '../../src/handlers/authentication.ts'
import { ask } from './ask.ts'

const inside = () => new Response('inside')
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`

async function status(handler: ReturnType<typeof basicAuth>, authorization?: string): Promise<number> {
  const headers = authorization === undefined ? {} : { authorization }
  return (await ask(handler, '/', { headers })).status
}

describe('RFC 7617 Basic', () => {
  // §2: "Aladdin" and "open sesame"; §2.1: "test" and "123£" in UTF-8.
  const handler = basicAuth(inside, { Aladdin: 'open sesame', test: '123£', colon: 'a:b', empty: '' })

  test.each([
    'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    'basic   QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    'Basic dGVzdDoxMjPCow==',
    basic('colon:a:b'),
    basic('empty:'),
  ])('lets in %s', async (authorization) => {
    expect(await status(handler, authorization)).toBe(200)
  })

  test.each([
    undefined,
    '',
    'Basic',
    'Basic !',
    'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== x',
    'Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    basic('Aladdin'),
    basic('Aladdin:'),
    basic('Aladdin:open sesam'),
    basic('Aladdin:open sesame '),
    basic('Aladdin:open sesame\0'),
    basic('aladdin:open sesame'),
    basic('nobody:'),
    basic('constructor:'),
    basic('__proto__:'),
    basic('\ufeffAladdin:open sesame'),
    `Basic ${Buffer.from('test:123\xa3', 'latin1').toString('base64')}`,
  ])('keeps out %s', async (authorization) => {
    expect(await status(handler, authorization)).toBe(401)
  })

  test('challenges with realm and charset, and is not cached', async () => {
    const response = await ask(basicAuth(inside, {}, { realm: 'my "own"\\' }), '/')
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="my \\"own\\"\\\\", charset="UTF-8"')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(() => basicAuth(inside, {}, { realm: 'a\r\nb' })).toThrow('realm')
  })

  test('a function may decide; it is not asked about nonsense', async () => {
    const verify = vi.fn(async (user: string, password: string) => user === password)
    expect(await status(basicAuth(inside, verify), basic('a:a'))).toBe(200)
    expect(await status(basicAuth(inside, verify), basic('a:b'))).toBe(401)
    expect(await status(basicAuth(inside, verify), 'Basic x y')).toBe(401)
    expect(verify).toHaveBeenCalledTimes(2)
  })

  test('a refused request never reaches the handler', async () => {
    const handler = vi.fn(inside)
    await ask(basicAuth(handler, { a: 'b' }), '/', { headers: { authorization: basic('a:c') } })
    expect(handler).not.toHaveBeenCalled()
  })
})

describe('RFC 6750 Bearer', () => {
  const handler = bearer(inside, ['one', 'two=='])

  test.each([
    ['Bearer one', 200],
    ['bearer two==', 200],
    ['Bearer three', 401],
    ['Bearer on', 401],
    ['Bearer one two', 401],
    ['Basic one', 401],
    ['one', 401],
  ])('%s → %i', async (authorization, expected) => {
    expect(await status(handler, authorization)).toBe(expected)
  })

  test('§3 an error only for who sent a token', async () => {
    const challenge = async (headers: Record<string, string>) =>
      (await ask(handler, '/', { headers })).headers.get('www-authenticate')
    expect(await challenge({})).toBe('Bearer realm="site"')
    expect(await challenge({ authorization: 'Bearer x' })).toBe('Bearer realm="site", error="invalid_token"')
  })

  test('one token, none, or a function', async () => {
    expect(await status(bearer(inside, 'one'), 'Bearer one')).toBe(200)
    expect(await status(bearer(inside, []), 'Bearer one')).toBe(401)
    expect(
      await status(
        bearer(inside, async (token) => token === 'x'),
        'Bearer x',
      ),
    ).toBe(200)
  })
})

describe('allow-list', () => {
  const handler = allow(inside, [
    { path: '/' },
    { path: '/api/*', methods: ['GET', 'POST'] },
    { path: '/api/only', methods: ['PUT'] },
  ])

  test.each([
    ['GET', '/', 200],
    ['DELETE', '/', 200],
    ['GET', '/?q=/x', 200],
    ['HEAD', '/api/a/b', 200],
    ['PUT', '/api/only', 200],
    ['PUT', '/api/a', 405],
    ['GET', '/api', 403],
    ['GET', '/apis', 403],
    ['GET', '/admin', 403],
    ['GET', '/API/a', 403],
    ['GET', '/api/../admin', 403],
    ['GET', '/api/%2e%2e/admin', 403],
    ['GET', '/api/..%2fadmin', 403],
    ['GET', '/api/..%5Cadmin', 403],
    ['GET', '/api/%252e%252e%252fadmin', 403],
    ['GET', '/api/..;/admin', 403],
  ])('%s %s → %i', async (method, path, expected) => {
    expect((await ask(handler, path, { method })).status).toBe(expected)
  })

  test('RFC 9110 §15.5.6 405 names the methods', async () => {
    const response = await ask(handler, '/api/only', { method: 'DELETE' })
    expect(response.headers.get('allow')).toBe('GET, POST, HEAD, PUT')
  })

  test.each(['api', '', '/a*', '/*/b'])('%j is no path to allow', (path) => {
    expect(() => allow(inside, [{ path }])).toThrow('not a path')
  })
})
