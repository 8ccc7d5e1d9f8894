// `/go/<name>` at a relay without discovery: which sites it leads to, what it says of the others, and what it keeps to itself.

import { once } from 'node:events'
import { Agent, request as httpsRequest } from 'node:https'
import { canonicalLabel, type RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GO_VISITS_PER_NETWORK } from '../../../src/core/rate-limit/client-rate-limits.ts'
import { put } from '../../support/cache-client.ts'
import { type Answer, newAccount, ROOT_HOST, startTestRelay, type TestRelay } from '../../support/relay.ts'
import { nativeSession, type TestSession } from '../../support/session.ts'

const ADMIN_TOKEN = 'a-token-of-the-administrator'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const SETTINGS = {
  approval_mode: 'auto',
  landing_page_enabled: true,
  udp: { enabled: false, max_leases: 0 },
  tcp_port: { enabled: true, max_leases: 0 },
}
const DIGITS = 'ab'.repeat(20)
const PATIENT = { interval: 20, timeout: 10_000 }

let relay: TestRelay
beforeEach(async () => {
  relay = await startTestRelay({ ADMIN_TOKEN, STATIC_CACHE_ENABLED: 'true' })
})
afterEach(() => relay.close())

const go = (path: string, method = 'GET'): Promise<Answer> => relay.call(method, `/go/${path}`)
const urlOf = (label: string): string => relay.origin.replace('//', `//${label}.`)

interface Site {
  lease: RegisterResponse
  label: string
  key: string
  session: TestSession
  close(): Promise<void>
}

async function openSite(name: string, fields: object = {}): Promise<Site> {
  const account = newAccount()
  const lease = await relay.register(name, { account, ...fields })
  const session = await nativeSession(relay, lease.reverse_endpoint.capability, [])
  const address = account.address.toLowerCase()
  const { access_token } = lease
  return {
    lease,
    label: canonicalLabel(name, address),
    key: `${name}:${address}`,
    session,
    close: async () => {
      session.abort()
      await relay.call('POST', '/sdk/unregister', { access_token })
    },
  }
}

async function administer(path: string, body: object): Promise<void> {
  expect(await relay.call('POST', path, body, BEARER)).toMatchObject({ status: 200 })
}

describe('a site that is here', () => {
  test('a visitor is redirected to the name of the link, path and query included (protocol §16.1.4)', async () => {
    const { label, close } = await openSite('here', { metadata: { hide: true } })
    await vi.waitFor(async () => expect((await go('here')).status).toBe(302), PATIENT)
    for (const name of ['here', label])
      for (const [path, url] of Object.entries({
        '': '/',
        '/a/b?x=y&x=%20': '/a/b?x=y&x=%20',
        '//evil.example/a': '//evil.example/a',
        '/\\evil.example': '//evil.example',
        '/%2f%2fevil.example': '/%2f%2fevil.example',
        '/..//evil.example': '//evil.example',
        '/@evil.example': '/@evil.example',
        '?@evil.example': '/?@evil.example',
        '/%0d%0aSet-Cookie:%20a=b': '/%0d%0aSet-Cookie:%20a=b',
        '/https://evil.example': '/https://evil.example',
      }))
        for (const method of ['GET', 'HEAD'])
          expect(await go(`${name}${path}`, method), path).toMatchObject({
            status: 302,
            text: '',
            headers: {
              location: `${urlOf(name)}${url}`,
              'cache-control': 'no-store',
              'referrer-policy': 'no-referrer',
            },
          })
    expect((await go('HERE')).headers.location).toBe(`${urlOf('here')}/`)
    await close()
    expect(await go('here')).toMatchObject({ status: 503 })
  })

  test('while it is away, its stored files are led to at their own address (protocol §16.1.4)', async () => {
    const { lease, label, key, close } = await openSite('stored', { cache: true })
    expect(await put(relay, lease, { 'index.html': 'stored' })).toMatchObject({ status: 200 })
    await vi.waitFor(
      async () => expect((await go('stored')).headers.location).toBe(`${urlOf('stored')}/`),
      PATIENT,
    )
    await close()
    expect((await go('stored/a?b')).headers.location).toBe(`${urlOf(label)}/a?b`)
    // The name is somebody else's now.
    await administer('/api/policy/names', { name: 'stored', address: newAccount().address })
    expect(await go('stored')).toMatchObject({ status: 503 })
    expect((await go(label)).headers.location).toBe(`${urlOf(label)}/`)
    await administer('/api/policy/leases', { identity_key: key, is_banned: true })
    expect(await go(label)).toMatchObject({ status: 503 })
  })
})

/** What a visitor sees of an answer, without its name and random values. */
function seen({ status, headers, text }: Answer): unknown {
  const { date, 'x-request-id': id, ...rest } = headers
  expect([typeof date, typeof id]).toEqual(['string', 'string'])
  return { status, rest, text: text.replaceAll(/q-[a-z]{6}(?:-[\da-f]{40})?/g, 'NAME') }
}

test('an absent, a hidden, a banned, a denied, a pinned and a reserved name look alike (protocol §16.1.5)', async () => {
  const names = [
    'q-absent',
    'q-hidden',
    'q-banned',
    'q-denied',
    'q-pinned',
    'q-sealed',
    'q-lonely',
    'q-closed',
  ]
  const closed = await openSite('q-closed')
  await closed.close()
  // It has a lease and no session.
  await relay.register('q-lonely', { metadata: { hide: true } })
  const banned = await openSite('q-banned')
  await administer('/api/policy/leases', { identity_key: banned.key, is_banned: true })
  const denied = await openSite('q-denied')
  await administer('/api/policy/leases', { identity_key: denied.key, is_denied: true })
  await administer('/api/policy/names', { name: 'q-pinned', address: newAccount().address })
  await administer('/api/policy', { ...SETTINGS, approval_mode: 'manual', reserved_names: ['q-sealed'] })
  const hidden = await relay.register('q-hidden', { metadata: { hide: true } })
  expect(hidden.hostname).toContain('q-hidden')
  for (const method of ['GET', 'HEAD']) {
    const [first, ...others] = await Promise.all(names.map(async (name) => seen(await go(name, method))))
    for (const [index, other] of others.entries()) expect(other, names[index + 1]).toEqual(first)
  }
  for (const { label } of [banned, denied, closed])
    expect(seen(await go(label))).toEqual(seen(await go(`q-absent-${DIGITS}`)))
})

test('a site that asked to be listed waits for approval, and its page says so (protocol §16.1.5)', async () => {
  await administer('/api/policy', { ...SETTINGS, approval_mode: 'manual' })
  await relay.register('listed', { metadata: { hide: false } })
  const { status, headers, text } = await go('listed')
  expect([status, headers['retry-after']]).toEqual([503, '5'])
  expect(text).toContain('<h1>listed waits for approval</h1>')
})

test('a relay that drains says so of every name alike', async () => {
  const { session } = await openSite('busy')
  const visitor = relay.tls(`busy.${ROOT_HOST}`)
  await session.read(1)
  const agent = new Agent({ keepAlive: true })
  const get = async (name: string): Promise<string> => {
    const host = { host: '127.0.0.1', port: relay.port, servername: ROOT_HOST, ca: relay.ca, agent }
    const asked = httpsRequest({ ...host, path: `/go/${name}`, headers: { Host: ROOT_HOST } }).end()
    const [response] = await once(asked, 'response')
    let text = `${response.statusCode} ${response.headers.connection} `
    for await (const chunk of response) text += chunk
    return text.replaceAll(name, 'NAME')
  }
  // Two connections, each of which gets one more answer.
  await Promise.all([get('busy'), get('nobody')])
  const stopped = relay.stop({ drainMs: 60_000 })
  const [busy, nobody] = await Promise.all([get('busy'), get('nobody')])
  expect(busy).toMatch(/^503 close /)
  expect(busy).toContain('<h1>The relay of NAME is closing</h1>')
  expect(nobody).toBe(busy)
  visitor.destroy()
  agent.destroy()
  await stopped
})

test.each([
  '',
  '/demo',
  'demo%2fa',
  'demo%2F..%2Fadmin',
  'demo\\evil.example',
  'demo@evil.example',
  'demo.evil.example',
  'demo:443',
  'demo%00',
  'demo%0d%0aLocation:%20https://evil.example',
  '-demo',
  'demo-',
  '..',
  '%2e%2e',
  'https://evil.example',
  'a'.repeat(23),
  'demo_x',
  '%',
])('/go/%s is 404, in a page without a script (protocol §16.1.4)', async (path) => {
  const { status, headers, text } = await go(path)
  expect([status, headers['content-type'], headers.location]).toEqual([
    404,
    'text/html; charset=utf-8',
    undefined,
  ])
  expect(text).toContain('<h1>No site has such an address</h1>')
  expect(text).not.toContain('<script')
  expect(text).not.toContain('evil')
})

test.each([
  ['a path', `demo/${'a'.repeat(20_000)}`],
  ['a name', 'a'.repeat(20_000)],
])('%s that is too long is refused with the head', async (_what, path) => {
  expect(await go(path)).toMatchObject({ status: 414 })
})

test('what a path has of markup is text in the page', async () => {
  const { text, headers } = await go(`demo/"><script>alert(1)</script>'&x`)
  expect(text).not.toMatch(/<script>alert|href="[^"]*['<>]/)
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'sha256-")
})

test('a flood of one network is put off, with the same words for every name (protocol §16.1.5)', async () => {
  const strict = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '1' })
  try {
    // A tenth of the budget by default has a tenth of the visits.
    const flood = Array.from({ length: GO_VISITS_PER_NETWORK.burst / 5 }, (_, index) =>
      strict.call('HEAD', `/go/n${index}`),
    )
    const refused = (await Promise.all(flood)).filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    // On a machine without time for it, the budget has grown meanwhile.
    await vi.waitFor(async () => {
      expect((await strict.call('GET', '/go/demo')).text).toContain('too many visitors')
    })
  } finally {
    await strict.close()
  }
})
