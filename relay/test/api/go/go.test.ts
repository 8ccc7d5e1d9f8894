// `/go/<name>-<address>` and `GET /discovery/site` at real relays that know each other.

import { createHash, hash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { canonicalLabel, type RegisterResponse, siteQuestionText } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { HttpClient } from '../../../src/core/outbound/http-client.ts'
import {
  SITE_QUESTIONS_PER_NETWORK,
  SITE_SEARCHES_PER_NETWORK,
} from '../../../src/core/rate-limit/client-rate-limits.ts'
import { parseExposition } from '../../support/exposition.ts'
import { trust } from '../../support/local-names.ts'
import { type Answer, freePort, newAccount, startTestRelay, type TestRelay } from '../../support/relay.ts'
import { nativeSession, type TestSession } from '../../support/session.ts'
import { makeStatement } from '../../support/site-statement.ts'

const ADMIN_TOKEN = 'a-token-of-the-administrator'
const DIGITS = 'ab'.repeat(20)
/** Nothing but what the site signed. */
const STATEMENT = {
  issued_at: expect.any(String),
  expires_at: expect.any(String),
  signature: expect.stringMatching(/^0x[\da-f]{130}$/),
}
/** For which the result of a search holds. */
const RESULT_MS = 200
const limits = { discovery: { siteResultMs: RESULT_MS } }
const PATIENT = { interval: 50 }

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

let directory: string
let port: number
let metricsPort: number
/** The second one has the name `relay.localhost`, too: relays are told apart by their ports. */
let relay: TestRelay
let other: TestRelay
let distrust: () => void
/** Answer to a question. */
let withoutDiscovery: Answer

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-go-'))
  port = await freePort()
  metricsPort = await freePort()
  const on = { DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' }
  other = await startTestRelay(on)
  // The first start makes the authority.
  const off = await startTestRelay({ SNI_PORT: `${port}` }, { directory })
  withoutDiscovery = await ask(off, `demo-${DIGITS}`)
  await off.stop()
  distrust = trust([other.ca, await readFile(join(directory, 'ca.pem'), 'utf8')])
  const env = { ...on, ADMIN_TOKEN, SNI_PORT: `${port}`, METRICS_ADDR: `${metricsPort}` }
  relay = await startTestRelay({ ...env, BOOTSTRAPS: other.origin }, { directory, limits })
  await vi.waitFor(
    async () => expect((await relay.call('GET', '/discovery')).text).toContain(other.origin),
    PATIENT,
  )
})
afterAll(async () => {
  distrust()
  await relay.close()
  await other.close()
  await rm(directory, { recursive: true, force: true })
})

interface Site {
  label: string
  lease: RegisterResponse
  session: TestSession
  close(): Promise<void>
}

/** Gives a relay the statement of a site, as an SDK does with each renewal. */
async function state(
  at: TestRelay,
  { access_token }: RegisterResponse,
  canonicalLabel: string,
  by: ReturnType<typeof newAccount>,
  origin: string = at.origin,
): Promise<void> {
  const [issuedAt, expiresAt] = [Date.now(), Date.now() + 240_000]
  const statement = await makeStatement({ by, canonicalLabel, origin, issuedAt, expiresAt })
  expect(await at.call('POST', '/sdk/renew', { access_token, statement })).toMatchObject({ status: 200 })
}

/** Registers a site, with one ready session. */
async function openSite(at: TestRelay, name: string, fields: object = {}): Promise<Site> {
  const account = newAccount()
  const lease = await at.register(name, { account, ...fields })
  const label = canonicalLabel(name, account.address.toLowerCase())
  await state(at, lease, label, account)
  const session = await nativeSession(at, lease.reverse_endpoint.capability, [])
  await vi.waitFor(async () => expect(await has(at, label)).toBe(true), PATIENT)
  const close = async (): Promise<void> => {
    await at.call('POST', '/sdk/unregister', { access_token: lease.access_token })
  }
  return { label, lease, session, close }
}

const go = (path: string, method = 'GET'): Promise<Answer> => relay.call(method, `/go/${path}`)
const ask = (at: TestRelay, label: string): Promise<Answer> =>
  at.call('GET', `/discovery/site?site=${hash('sha256', siteQuestionText(label))}`)
const has = async (at: TestRelay, label: string): Promise<boolean> =>
  ((await ask(at, label)).json.data as { here: boolean }).here
/** Asks when the last search does not hold any more. */
async function lookAgain(label: string): Promise<Answer> {
  await pause(RESULT_MS)
  return await go(label)
}
const urlOf = (at: TestRelay, label: string): string => at.origin.replace('//', `//${label}.`)

/** A page of `/go/` without the names that its link has. */
const withoutNames = (text: string): string =>
  text.replaceAll(/[a-z]+-[\da-f]{40}/g, 'LABEL').replaceAll(/>(?:nobody|barred)\b/g, '>NAME')

/** The page runs its own script and style alone. */
function expectOwnPolicy(headers: Answer['headers'], text: string): void {
  const policy = `${headers['content-security-policy']}`
  for (const [element, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const) {
    const [, source = ''] = new RegExp(`<${element}>([^]+?)</${element}>`).exec(text) ?? []
    const digest = createHash('sha256').update(source).digest('base64')
    expect(policy).toContain(`${directive} 'sha256-${digest}';`)
  }
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|\*|https:/)
}

describe('a site that is here', () => {
  test('a visitor is redirected to it, path and query included, with GET and HEAD (protocol §16.1.4)', async () => {
    const { label, close } = await openSite(relay, 'here')
    const base = urlOf(relay, label)
    for (const [path, url] of Object.entries({
      '': `${base}/`,
      '/': `${base}/`,
      '?q=1': `${base}/?q=1`,
      '/a/b?x=y&x=%20': `${base}/a/b?x=y&x=%20`,
      '//other.example/a': `${base}//other.example/a`,
      '/\\other.example': `${base}//other.example`,
      '/..//other.example': `${base}//other.example`,
      '/@other.example': `${base}/@other.example`,
    }))
      for (const method of ['GET', 'HEAD'])
        expect(await go(`${label}${path}`, method), path).toMatchObject({
          status: 302,
          text: '',
          headers: { location: url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
        })
    expect((await go(label.toUpperCase())).headers.location).toBe(`${base}/`)
    await close()
    expect(await go(label)).toMatchObject({ status: 503 })
  })

  test('is not here any more when its last session is gone, when it is banned, or when it ends', async () => {
    const { label, session, close } = await openSite(relay, 'leaving')
    session.abort()
    await vi.waitFor(async () => expect(await has(relay, label)).toBe(false), PATIENT)
    await close()
    const banned = await openSite(relay, 'banned')
    const key = `banned:0x${banned.label.slice(-40)}`
    const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
    const update = (is_banned: boolean): Promise<Answer> =>
      relay.call('POST', '/api/policy/leases', { identity_key: key, is_banned }, bearer)
    expect(await update(true)).toMatchObject({ status: 200 })
    expect(await has(relay, banned.label)).toBe(false)
    await banned.close()
  })

  test('is here while a visitor has its only session', async () => {
    const { label, session, close } = await openSite(relay, 'busy')
    const visitor = relay.tls(`${label}.relay.localhost`)
    const [marker] = await session.read(1)
    expect(marker).toBe(2)
    expect(await has(relay, label)).toBe(true)
    visitor.destroy()
    await close()
  })
})

describe('a site at another relay', () => {
  test('a page names the host and leads there, until the site moves', async () => {
    const there = await openSite(other, 'moving')
    const url = `${urlOf(other, there.label)}/path?x=y&z=%3Cscript%3E`
    const { status, headers, text } = await go(`${there.label}/path?x=y&z=<script>`)
    expect([status, headers.location, headers.refresh]).toEqual([200, undefined, undefined])
    expect(headers['cache-control']).toBe('no-store')
    expect(text).toContain(`href="${url.replace('&', '&#38;')}">Continue to ${new URL(url).host}</a>`)
    expect(text).not.toMatch(/http-equiv|<script>"|location\.(?:assign|replace|href)/)
    expectOwnPolicy(headers, text)
    expect(await go(there.label, 'HEAD')).toMatchObject({ status: 200, text: '' })
    await there.close()
    await vi.waitFor(async () => expect((await go(there.label)).status).toBe(503), PATIENT)
  })

  test('a hidden one, too, and its name is in no question', async () => {
    const asked = vi.spyOn(HttpClient.prototype, 'request')
    const hidden = await openSite(other, 'hidden', { metadata: { hide: true } })
    expect((await go(hidden.label)).text).toContain(`href="${urlOf(other, hidden.label)}/"`)
    expect(asked.mock.calls.filter(([url]) => `${url}`.includes('/discovery/site'))).toHaveLength(1)
    expect(asked.mock.calls.filter(([url]) => `${url}`.includes(hidden.label))).toEqual([])
    asked.mockRestore()
    await hidden.close()
  })

  test('one that has signed nothing for that relay is not found', async () => {
    const account = newAccount()
    const lease = await other.register('unsigned', { account })
    const label = canonicalLabel('unsigned', account.address.toLowerCase())
    const session = await nativeSession(other, lease.reverse_endpoint.capability, [])
    await vi.waitFor(async () => expect(await has(other, label)).toBe(true), PATIENT)
    expect((await ask(other, label)).json.data).toEqual({ here: true })
    expect(await go(label)).toMatchObject({ status: 503 })
    // Nor with what it signed for another relay, or what somebody else signed.
    await state(other, lease, label, account, relay.origin)
    expect(await lookAgain(label)).toMatchObject({ status: 503 })
    await state(other, lease, label, newAccount())
    expect(await lookAgain(label)).toMatchObject({ status: 503 })
    await state(other, lease, label, account)
    expect(await lookAgain(label)).toMatchObject({ status: 200 })
    session.abort()
  })
})

test('nobody is led to a site at another relay that is banned or denied here', async () => {
  const site = await openSite(other, 'barred')
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const identity_key = `barred:0x${site.label.slice(-40)}`
  for (const rule of ['is_banned', 'is_denied']) {
    const update = (on: boolean): Promise<Answer> =>
      relay.call('POST', '/api/policy/leases', { identity_key, [rule]: on }, bearer)
    expect(await update(true)).toMatchObject({ status: 200 })
    // The answer says nothing of it.
    const unknown = await go(`nobody-${DIGITS}`)
    const { status, headers, text } = await go(site.label.toUpperCase())
    expect([status, headers.location, headers['cache-control']]).toEqual([503, undefined, 'no-store'])
    expect(withoutNames(text)).toBe(withoutNames(unknown.text))
    expect(await update(false)).toMatchObject({ status: 200 })
  }
  expect(await go(site.label)).toMatchObject({ status: 200 })
  await site.close()
})

describe('a site that nobody has', () => {
  const label = `nobody-${DIGITS}`

  test('there is a page that says so, with its own script and style alone, and with other relays', async () => {
    const { status, headers, text } = await go(`${label}/<script>?"'&`)
    expect([status, headers['cache-control'], headers['retry-after']]).toEqual([503, 'no-store', '5'])
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(text).toContain('nobody is not here right now')
    expect(text).toContain('the only other one that it knows does not, either')
    expect(text).toContain(`<a href="${other.origin}/go/${label}/%3Cscript%3E?%22`)
    expect(text).not.toMatch(/<script>\?|href="[^"]*['<>]/)
    expectOwnPolicy(headers, text)
    expect(await go(label, 'HEAD')).toMatchObject({ status: 503, text: '' })
  })
})

test.each([
  '',
  DIGITS,
  `-${DIGITS}`,
  `demo-0x${DIGITS}`,
  `demo--${DIGITS}`,
  `demo-${DIGITS}0`,
  `a.b-${DIGITS}`,
  `demo-${DIGITS}.other.example`,
  `demo-${DIGITS}@other.example`,
  `demo-${DIGITS}%2f`,
  `${'a'.repeat(23)}-${DIGITS}`,
  `/demo-${DIGITS}`,
  '%',
])('/go/%s is 404 (protocol §16.1.4)', async (path) => {
  expect(await go(path)).toMatchObject({
    status: 404,
    text: expect.stringContaining('No site has such an address'),
  })
})

test('takes GET and HEAD alone', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await go(`demo-${DIGITS}`, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
})

describe('GET /discovery/site', () => {
  test("says whether the relay has the site, with the site's statement, to pages of any origin (protocol §16.1.3)", async () => {
    const { label, close } = await openSite(relay, 'asked')
    const cors = { 'access-control-allow-origin': '*', 'cache-control': 'no-store' }
    expect(await ask(relay, label)).toMatchObject({
      status: 200,
      headers: cors,
      json: { ok: true, data: { here: true, statement: STATEMENT } },
    })
    await close()
    expect(await ask(relay, label)).toMatchObject({
      headers: cors,
      json: { ok: true, data: { here: false } },
    })
    expect((await ask(relay, label)).text).toBe('{"ok":true,"data":{"here":false}}')
  })

  test('says of a hidden site what it says of any other', async () => {
    const { label, close } = await openSite(relay, 'unlisted', { metadata: { hide: true } })
    expect((await relay.call('GET', '/api/state')).text).not.toContain('unlisted')
    expect((await ask(relay, label)).json.data).toEqual({ here: true, statement: STATEMENT })
    await close()
  })

  test('POST /sdk/renew refuses what is no statement', async () => {
    const { access_token } = await relay.register('sloppy')
    const time = '2026-11-27T12:00:00.000Z'
    const good = { issued_at: time, expires_at: time, signature: `0x${'0'.repeat(130)}` }
    expect(await relay.call('POST', '/sdk/renew', { access_token, statement: good })).toMatchObject({
      status: 200,
    })
    for (const bad of [
      { issued_at: 'now' },
      { expires_at: '2026-13-40T25:00:00.000Z' },
      { issued_at: '0001-01-01T00:00:00.000Z' },
      { signature: '0x' },
    ])
      expect(
        await relay.call('POST', '/sdk/renew', { access_token, statement: { ...good, ...bad } }),
      ).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
  })

  test.each(['', '?site=', `?site=demo-${DIGITS}`, `?site=${'0'.repeat(63)}`, `?site=${'A'.repeat(64)}`])(
    'with %j is invalid_request (protocol §16.1.3)',
    async (query) => {
      expect(await relay.call('GET', `/discovery/site${query}`)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request' } },
      })
    },
  )
})

test('metrics count where visitors were led', async () => {
  const families = parseExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
  const { samples } = families.get('svc_relay_go_visits_total')!
  for (const outcome of ['here', 'elsewhere', 'nowhere'])
    expect(samples.get(`svc_relay_go_visits_total{outcome="${outcome}"}`)).toBeGreaterThan(0)
  expect(samples.get('svc_relay_go_visits_total{outcome="busy"}')).toBe(0)
})

test('a flood of one network gets a page that asks to come back, and no answers to its questions', async () => {
  const strict = await startTestRelay({
    DISCOVERY: 'true',
    DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
    SOURCE_BUDGET_PER_MINUTE: '10',
  })
  try {
    const flood = Array.from({ length: 5 * SITE_SEARCHES_PER_NETWORK.burst }, (_, index) =>
      strict.call('GET', `/go/n${index}-${DIGITS}`),
    )
    const answers = await Promise.all(flood)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(SITE_SEARCHES_PER_NETWORK.burst)
    for (const { headers, text } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      expect(text).toContain('too many visitors')
    }
    const questions = Array.from({ length: 2 * SITE_QUESTIONS_PER_NETWORK.burst }, () => ask(strict, 'demo'))
    const statuses = (await Promise.all(questions)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
  } finally {
    await strict.close()
  }
})

test('without discovery no question is answered', () => {
  expect(withoutDiscovery).toMatchObject({ status: 503, json: { error: { code: 'feature_unavailable' } } })
})
