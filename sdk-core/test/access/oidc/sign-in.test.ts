// Sign-in at a real issuer of OpenID Connect: who comes in, what the handler learns, and what attackers try.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type OidcIssuer, startOidcIssuer } from '../../../../tools/oidc/issuer.ts'
import type { FetchInfo } from '../../../src/exchange/fetch-handler.ts'
import { AccessSite, NAVIGATION } from '../access-site.ts'
import { Browser } from './browser.ts'

const ACCOUNTS = {
  alice: { email: 'Alice@Example.org', email_verified: true, name: 'Alice ☺' },
  bob: { email: 'bob@example.com', email_verified: true },
  mallory: { email: 'mallory@example.org', email_verified: false },
  kelvin: { email: 'k@\u212Aelvin.org', email_verified: true },
  carol: { email: 'carol@example.net', email_verified: true, groups: ['staff', 'others'] },
  'subject-7': {},
}
/** The issuer knows the site's address before the site listens. */
const URL_PORT = 8443
const ORIGIN = `https://127.0.0.1:${URL_PORT}`
const CALLBACK = '/.svc/access/oidc/callback'

let issuer: OidcIssuer
let site: AccessSite
let seen: { headers: Headers; user: FetchInfo['user'] }[]

beforeAll(async () => {
  const redirectUris = [ORIGIN + CALLBACK]
  const afterSignOut = [`${ORIGIN}/.svc/access`]
  issuer = await startOidcIssuer([{ id: 'site', secret: 'a secret', redirectUris, afterSignOut }], ACCOUNTS)
  site = await AccessSite.start(
    ({ headers }, { user }) => {
      seen.push({ headers, user })
      return new Response('inside')
    },
    {
      maxVisitors: 100,
      oidc: {
        issuer: issuer.url,
        clientId: 'site',
        clientSecret: 'a secret',
        allow: ['@example.org', '@kelvin.org', 'subject-7'],
        groups: ['staff', 'admins'],
        scopes: ['email', 'profile', 'groups'],
      },
    },
    undefined,
    undefined,
    URL_PORT,
  )
})
beforeEach(() => {
  seen = []
})
afterAll(() => {
  site.close()
  issuer.close()
})

describe('a visitor who the list has', () => {
  test('signs in, returns to what it asked for, and is named to the handler', async () => {
    const browser = new Browser(site)
    const page = await browser.signIn('alice', '/page?x=1&y=%2F')
    expect([page.status, page.text, String(page.url)]).toEqual([
      200,
      'inside',
      `${site.origin}/page?x=1&y=%2F`,
    ])
    const [{ headers, user }] = seen as [(typeof seen)[0]]
    expect(user).toEqual({ subject: 'alice', email: 'Alice@Example.org', name: 'Alice ☺', groups: [] })
    expect(headers.get('x-svc-user')).toBe('alice')
    expect(headers.get('x-svc-email')).toBe('Alice@Example.org')
    expect(headers.get('cookie')).toBeNull()
    expect([...browser.cookies.keys()]).toEqual(['__Host-svc-access'])
  })

  test('may be there by the subject, without an address, or by a group', async () => {
    expect(await new Browser(site).signIn('subject-7')).toMatchObject({ status: 200 })
    expect(await new Browser(site).signIn('carol')).toMatchObject({ status: 200 })
    expect(seen.map(({ user }) => user)).toEqual([
      { subject: 'subject-7', groups: [] },
      { subject: 'carol', email: 'carol@example.net', groups: ['staff'] },
    ])
    expect(seen[0]!.headers.has('x-svc-email')).toBe(false)
  })

  test('cannot name another user, in any spelling', async () => {
    const browser = new Browser(site)
    await browser.signIn('subject-7')
    seen = []
    const names = ['X-Svc-User', 'x_svc_user', 'X-Svc-Email', 'X.Svc.Email']
    const headers = Object.fromEntries(names.map((name) => [name, 'root']))
    await browser.ask('/', { headers: { ...headers, Connection: 'X-Svc-User, close' } })
    const fields = [...seen[0]!.headers].filter(([name]) => /svc/.test(name))
    expect(fields).toEqual([['x-svc-user', 'subject-7']])
    expect(seen[0]!.headers.get('connection')).not.toMatch(/svc/i)
  })
})

test.each([
  ['is not on it', 'bob', 'You are signed in as bob@example.com, and not among'],
  ['has an address that nobody verified', 'mallory', 'has verified no e-mail address of yours'],
  ['has an address that only looks like one of it', 'kelvin', 'has verified no e-mail address of yours'],
])('a visitor who %s stays outside', async (_, account, text) => {
  const browser = new Browser(site)
  const page = await browser.signIn(account)
  expect(page.status).toBe(403)
  expect(page.text).toContain(text)
  expect(seen).toEqual([])
  expect([...browser.cookies]).toEqual([])
  // No redirect without end: the visitor decides to try again, as somebody else.
  expect(page.text).toContain('href="/.svc/access/oidc?other"')
  expect((await browser.ask('/.svc/access/oidc?other')).headers.get('location')).toMatch(
    /[?&]prompt=(login|select_account)/,
  )
})

test('a visitor who does not agree stays outside, and is told the reason of the issuer', async () => {
  const page = await new Browser(site).signIn('-')
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('refused (access_denied)')])
})

test('a program and a script get 401, and are sent nowhere', async () => {
  for (const headers of [{}, { 'Sec-Fetch-Mode': 'cors', Accept: 'text/html' }]) {
    const { status, headers: fields } = await site.ask('/', { headers })
    expect([status, fields.get('location'), fields.get('set-cookie')]).toEqual([401, null, null])
  }
})

test('PKCE, state and nonce are new each time, and the issuer learns no path of the site', async () => {
  const [a, b] = await Promise.all([site, site].map((at) => new Browser(at).ask('/secret/path?token=1')))
  const [first, second] = [a, b].map((page) => new URL(page!.headers.get('location')!).searchParams)
  expect(Object.fromEntries(first!)).toMatchObject({
    code_challenge_method: 'S256',
    redirect_uri: site.origin + CALLBACK,
    response_type: 'code',
    scope: 'openid email profile groups',
  })
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(first!.get(name)).not.toBe(second!.get(name))
  expect(String(first)).not.toMatch(/secret|token/)
})

test('the issuer does not get the fragment of the page, and a share link leads past it', async () => {
  // A browser appends the fragment of the requested page to an address without one (RFC 9110 §10.2.2).
  expect((await new Browser(site).ask('/')).headers.get('location')).toMatch(/#$/)
  const page = await site.ask('/.svc/access', { headers: NAVIGATION })
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('svc-share')])
})

describe('an attacker', () => {
  test('cannot sign a visitor in as somebody else: the sign-in is bound to its browser', async () => {
    const callback = await new Browser(site).callbackFor('alice')
    const victim = new Browser(site)
    expect((await victim.ask(callback)).status).toBe(400)
    await victim.callbackFor('alice') // The victim has a sign-in of its own under way.
    expect((await victim.ask(callback)).status).toBe(400)
    expect(victim.cookies.has('__Host-svc-access')).toBe(false)
    // Nor with the cookie of the attacker's sign-in, whose text is for another state.
    const state = callback.searchParams.get('state')
    const [own] = victim.cookies.values()
    const forged = { Cookie: `__Host-svc-oidc-${state}=${own}` }
    expect((await new Browser(site).ask(callback, { headers: forged })).status).toBe(400)
  })

  test('cannot use the code of another browser in its own sign-in', async () => {
    const stolen = (await new Browser(site).callbackFor('alice')).searchParams.get('code')!
    const attacker = new Browser(site)
    const own = await attacker.callbackFor('bob')
    own.searchParams.set('code', stolen)
    const answer = await attacker.ask(own)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('invalid_grant')])
    expect(attacker.cookies.has('__Host-svc-access')).toBe(false)
  })

  test('cannot replay a code, also with the cookie of its sign-in', async () => {
    const browser = new Browser(site)
    const callback = await browser.callbackFor('alice')
    const kept = [...browser.cookies]
    expect((await browser.ask(callback)).status).toBe(303)
    const thief = new Browser(site)
    for (const [name, value] of kept) thief.cookies.set(name, value)
    expect((await thief.ask(callback)).status).toBe(400)
  })

  test('gets one session from two requests with the same code at once', async () => {
    const browser = new Browser(site)
    const callback = await browser.callbackFor('alice')
    const answers = await Promise.all([1, 2, 3].map(() => browser.ask(callback)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400])
  })

  test.each([
    ['another issuer', 'iss', 'https://evil.example'],
    ['no issuer, though this one says who it is', 'iss', undefined],
    ['another state', 'state', '0'.repeat(32)],
    ['two states', 'state', 'twice'],
  ])('%s in what comes back is refused before the code is used', async (_, name, value) => {
    const browser = new Browser(site)
    const callback = await browser.callbackFor('alice')
    const mixed = new URL(callback)
    if (value === undefined) mixed.searchParams.delete(name)
    else if (value === 'twice') mixed.searchParams.append(name, mixed.searchParams.get(name)!)
    else mixed.searchParams.set(name, value)
    const { status } = await browser.ask(mixed)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(browser.cookies.has('__Host-svc-access')).toBe(false)
  })

  test('cannot fix a session: its id is new after each sign-in, and the one before has ended', async () => {
    const browser = new Browser(site)
    await browser.signIn('alice')
    const before = browser.cookies.get('__Host-svc-access')!
    await browser.signIn('alice', '/.svc/access/oidc')
    const after = browser.cookies.get('__Host-svc-access')!
    expect(after).not.toBe(before)
    const old = { Cookie: `__Host-svc-access=${before}` }
    expect((await site.ask('/', { headers: old })).status).toBe(401)
    const changed = after.replace(
      /^oidc-[\w-]+/,
      `oidc-${Buffer.from('{"subject":"root"}').toString('base64url')}`,
    )
    expect((await site.ask('/', { headers: { Cookie: `__Host-svc-access=${changed}` } })).status).toBe(401)
  })

  test('cannot come in by a form, though the site has no password', async () => {
    const browser = new Browser(site)
    for (const fields of [{}, { user: 'alice', password: '' }])
      expect((await browser.post('/.svc/access/sign-in', fields)).status).toBe(401)
    expect([...browser.cookies]).toEqual([])
    expect((await browser.ask('/.svc/access')).text).not.toContain('<form')
    expect(seen).toEqual([])
  })

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    'javascript:alert(1)',
    '/.svc/access/sign-out',
    'https://127.0.0.1:1@evil.example/',
  ])('cannot send visitors to %s after the sign-in', async (next) => {
    const page = await new Browser(site).signIn('alice', `/.svc/access/oidc?${new URLSearchParams({ next })}`)
    expect(String(page.url)).toBe(`${site.origin}/`)
  })

  test('with a path of two slashes stays at the site', async () => {
    const page = await new Browser(site).signIn('alice', `${site.origin}//evil.example/x`)
    expect(String(page.url)).toBe(`${site.origin}//evil.example/x`)
  })

  test('that tries without end is slowed, and no other network is', async () => {
    const attacker = new Browser(site, '203.0.113.9')
    const statuses: number[] = []
    for (let i = 0; i < 11; i += 1) {
      const callback = await attacker.callbackFor('bob')
      callback.searchParams.set('code', `guess-${i}`)
      statuses.push((await attacker.ask(callback)).status)
    }
    expect(statuses).toEqual([...new Array(10).fill(403), 429])
    expect((await new Browser(site).signIn('alice')).status).toBe(200)
  })
})

test('a sign-in that takes more than ten minutes is over', async () => {
  const browser = new Browser(site)
  const callback = await browser.callbackFor('alice')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 })
  try {
    expect((await browser.ask(callback)).status).toBe(400)
  } finally {
    vi.useRealTimers()
  }
})

test('a browser with many sign-ins under way keeps the last eight', async () => {
  const browser = new Browser(site)
  for (let i = 0; i < 12; i += 1) await browser.ask(`/${i}`)
  expect(browser.cookies.size).toBe(8)
  expect((await browser.signIn('alice', '/last')).url.pathname).toBe('/last')
})

test('the sign-out ends the session here, and leads to the sign-out of the issuer and back', async () => {
  const browser = new Browser(site)
  await browser.signIn('alice')
  const cookie = `__Host-svc-access=${browser.cookies.get('__Host-svc-access')}`
  const page = await browser.post('/.svc/access/sign-out')
  expect(page.status).toBe(200)
  const { origin, pathname, searchParams } = new URL(page.headers.get('refresh')!.replace('0; url=', ''))
  expect([origin, pathname]).toEqual([issuer.url, '/session/end'])
  const { id_token_hint: hint = '', ...others } = Object.fromEntries(searchParams)
  expect(others).toEqual({
    client_id: 'site',
    post_logout_redirect_uri: `${site.origin}/.svc/access`,
  })
  // The issuer is told whose session it is, so that it need not ask, nor refuse.
  expect(JSON.parse(atob(hint.split('.')[1]!))).toMatchObject({ sub: 'alice', aud: 'site' })
  expect((await browser.ask(`${origin}${pathname}?${searchParams}`)).status).toBe(200)
  expect(browser.cookies.size).toBe(0)
  expect((await site.ask('/', { headers: { Cookie: cookie } })).status).toBe(401)
  // The page after it signs nobody in again by itself.
  expect(await browser.ask('/.svc/access')).toMatchObject({
    status: 200,
    text: expect.stringContaining('href="/.svc/access/oidc?next=%2F"'),
  })
})

test('the sign-out names the session of this browser alone, and is no way to get the token of another', async () => {
  const [alice, again, stranger] = [new Browser(site), new Browser(site), new Browser(site)]
  await alice.signIn('alice')
  await again.signIn('alice')
  const hintOf = async (browser: Browser): Promise<string | null> => {
    const { headers } = await browser.post('/.svc/access/sign-out')
    const refresh = headers.get('refresh')?.replace('0; url=', '')
    return refresh === undefined ? null : new URL(refresh).searchParams.get('id_token_hint')
  }
  const cookies = new Map(alice.cookies)
  const [one, other] = [await hintOf(alice), await hintOf(again)]
  expect([one, other]).toEqual([expect.stringContaining('.'), expect.stringContaining('.')])
  expect(one).not.toBe(other)
  expect(await hintOf(stranger)).toBeNull()
  // A copy of the cookie is worth nothing after the sign-out.
  for (const [name, value] of cookies) stranger.cookies.set(name, value)
  expect(await hintOf(stranger)).toBeNull()
})
