// The sign-in with a password: what visitors see, what the handler gets, and what attackers try.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AccessSite, basic, cookieOf, from, NAVIGATION } from './access-site.ts'

const TOKEN = 'a-token-that-is-long'
let site: AccessSite
let seen: Headers[]

beforeAll(async () => {
  site = await AccessSite.start(
    ({ headers }) => {
      seen.push(headers)
      return new Response('inside')
    },
    { password: 'of all', users: { alice: 'her own', zoë: 'naïve' }, bearer: TOKEN },
  )
})
beforeEach(() => {
  seen = []
})
afterAll(() => site.close())

describe('a visitor without a session', () => {
  test.each(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])('gets 401 for %s', async (method) => {
    for (const path of ['/', '/.svc', '/.svc/accessible', '//.svc/access', '/x?a=/.svc/access'])
      expect((await site.ask(path, { method })).status).toBe(401)
    expect(seen).toEqual([])
  })

  test('gets the page in a browser, which returns to what was asked for', async () => {
    const { status, headers, text } = await site.ask('/a"<b>?c=d&e', { headers: NAVIGATION })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(`Form sign-in="${site.origin}/.svc/access"`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*form-action 'self'; frame-ancestors 'none'/,
    )
    expect(text).toContain('name="next" value="/a%22%3Cb%3E?c=d&#38;e"')
    expect(text).not.toContain('<b>')
  })

  test('is told by programs how to come in, and by scripts of a page nothing that opens a dialog', async () => {
    const { headers } = await site.ask('/')
    expect(headers.get('www-authenticate')).toBe(
      `Form sign-in="${site.origin}/.svc/access", Basic realm="site", charset="UTF-8", Bearer realm="site"`,
    )
    const script = await site.ask('/', { headers: { 'Sec-Fetch-Mode': 'cors', Accept: 'application/json' } })
    expect(script.headers.get('www-authenticate')).toBe(`Form sign-in="${site.origin}/.svc/access"`)
    expect(JSON.parse(script.text)).toMatchObject({ error: 'unauthorized' })
  })
})

describe('the right password', () => {
  test.each([
    ['of all, by the form', { password: 'of all' }],
    ['of all, with any name', { user: 'bob', password: 'of all' }],
    ['of a user', { user: 'alice', password: 'her own' }],
    ['of a user, composed in another way', { user: 'zoe\u0308', password: 'nai\u0308ve' }],
  ])('%s, lets in', async (_, fields) => {
    const answer = await site.post('sign-in', { ...fields, next: '/page?x=1' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${site.origin}/page?x=1`])
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-svc-access=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=86400$/,
    )
    const cookie = cookieOf(answer)
    const inside = await site.ask('/page', { headers: { Cookie: `a=b; ${cookie}; c=d` } })
    expect(inside).toMatchObject({ status: 200, text: 'inside' })
    expect(inside.headers.get('vary')).toContain('Cookie')
    expect(seen[0]!.get('cookie')).toBe('a=b; c=d')
  })

  test('and the token let programs in, and reach no handler', async () => {
    for (const headers of [
      basic('alice', 'her own'),
      basic('', 'of all'),
      { Authorization: `bearer ${TOKEN}` },
    ])
      expect((await site.ask('/', { headers })).status).toBe(200)
    expect(seen.map((headers) => headers.get('authorization'))).toEqual([null, null, null])
  })

  test('leaves the handler a field of another scheme, and none by which a guess would show', async () => {
    const Cookie = await site.signIn({ password: 'of all' })
    await site.ask('/', { headers: { Cookie, Authorization: 'Digest username="x"' } })
    await site.ask('/', { headers: { Cookie, ...basic('alice', 'a guess') } })
    await site.ask('/', { headers: { Cookie, ...basic('alice', 'her own') } })
    expect(seen.map((headers) => headers.get('authorization'))).toEqual(['Digest username="x"', null, null])
  })
})

describe('a wrong password', () => {
  test.each([
    ['of another user', { user: 'alice', password: 'naïve' }],
    ['of all, for a user who has one', { user: 'alice', password: 'of all' }],
    ['that is empty', { user: 'alice', password: '' }],
    ['that is missing', {}],
    ['that is too long', { password: 'x'.repeat(1025) }],
    ['the token', { password: TOKEN }],
    ['of a user like __proto__', { user: '__proto__', password: '' }],
  ])('%s lets nobody in', async (_, fields) => {
    const answer = await site.post('sign-in', { ...fields, next: '/page' }, from(`192.0.2.${Math.random()}`))
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    expect(answer.text).toContain('That is not right')
    expect(answer.text).toContain('value="/page"')
  })

  test('is never repeated in an answer, nor a name', async () => {
    const { text } = await site.post('sign-in', { user: 'who is this', password: 'my secret' }, from('a'))
    expect(text).not.toMatch(/my secret|who is this/)
  })
})

describe('attacks', () => {
  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    'https:evil.example',
    '/.svc/access/sign-out',
    '%00',
    ' //evil.example',
    '/\t/evil.example',
  ])('the sign-in leads to no other place: %s', async (next) => {
    const { headers } = await site.post('sign-in', { password: 'of all', next })
    const location = new URL(headers.get('location')!)
    expect(location.origin).toBe(site.origin)
    expect(location.pathname).not.toContain('sign-out')
    expect(headers.get('location')!.startsWith(`${site.origin}/`)).toBe(true)
  })

  test('a path with two slashes stays on this host', async () => {
    const { headers } = await site.post('sign-in', {
      password: 'of all',
      next: `${site.origin}//evil.example/`,
    })
    expect(headers.get('location')).toBe(`${site.origin}//evil.example/`)
  })

  test('a form of another site signs nobody in or out', async () => {
    const Cookie = await site.signIn({ password: 'of all' })
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'null' },
      { Origin: 'https://sibling.127.0.0.1', 'Sec-Fetch-Site': 'same-site' },
    ])
      for (const action of ['sign-in', 'sign-out'])
        expect(await site.post(action, { password: 'of all' }, { ...headers, Cookie })).toMatchObject({
          status: 403,
        })
    expect((await site.ask('/', { headers: { Cookie } })).status).toBe(200)
  })

  test('a page of another site changes nothing with the cookie or a password of the browser', async () => {
    const Cookie = await site.signIn({ password: 'of all' })
    const Origin = 'https://evil.example'
    for (const headers of [
      { Cookie, Origin },
      { ...basic('', 'of all'), Origin },
    ])
      expect((await site.ask('/', { method: 'POST', headers })).status).toBe(403)
    // No browser adds a token by itself.
    const headers = { Authorization: `Bearer ${TOKEN}`, Origin }
    expect((await site.ask('/', { method: 'POST', headers })).status).toBe(200)
  })

  test('a session that an attacker made is not the one in which a visitor signs in', async () => {
    const planted = await site.signIn({ password: 'of all' })
    const answer = await site.post('sign-in', { user: 'alice', password: 'her own' }, { Cookie: planted })
    expect(cookieOf(answer)).not.toBe(planted)
    expect((await site.ask('/', { headers: { Cookie: planted } })).status).toBe(401)
    expect((await site.ask('/', { headers: { Cookie: cookieOf(answer) } })).status).toBe(200)
  })

  test('a cookie that is changed, or of another host, opens nothing', async () => {
    const cookie = await site.signIn({ user: 'alice', password: 'her own' })
    for (const Cookie of [
      cookie.replace('user-', 'user-x'),
      cookie.replace(/\.\d+\./, '.9999999999999.'),
      `${cookie}x`,
      cookie.slice(0, -1),
      cookie.replace('__Host-', ''),
    ])
      expect((await site.ask('/', { headers: { Cookie } })).status).toBe(401)
    const headers = { Cookie: cookie, Host: `other.example:${site.port}` }
    expect((await site.ask('/', { headers })).status).toBe(401)
  })
})

test('a visitor sees the page of the session, and signs out', async () => {
  const Cookie = await site.signIn({ password: 'of all' })
  expect((await site.ask('/.svc/access', { headers: { Cookie } })).text).toContain('Sign out')
  const answer = await site.post('sign-out', {}, { Cookie })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${site.origin}/.svc/access`])
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-svc-access=; .*Max-Age=0$/)
  expect((await site.ask('/', { headers: { Cookie } })).status).toBe(401)
  expect((await site.ask('/.svc/access')).text).toContain('name="password"')
})

test.each([
  ['POST', '/.svc/access', 405],
  ['GET', '/.svc/access/sign-in', 405],
  ['POST', '/.svc/access/constructor', 404],
  ['POST', '/.svc/access/', 404],
])('%s %s answers %i', async (method, path, status) => {
  expect((await site.ask(path, { method, headers: { Origin: site.origin } })).status).toBe(status)
})
