// Pages of other origins and a site with `access` (Fetch standard, "HTTP CORS protocol"): preflights carry no credentials.

import { afterEach, describe, expect, it } from 'vitest'
import type { AccessOptions } from '../../src/access/options.ts'
import type { TrafficRules } from '../../src/rules/options.ts'
import { withRules } from '../../src/rules/with-rules.ts'
import { AccessSite, from } from './access-site.ts'

const BEARER = 'a-token-that-nobody-can-guess'
const APP = 'https://app.example'
const PREFLIGHT = {
  Origin: APP,
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
  'Sec-Fetch-Mode': 'cors',
}
const RULES: TrafficRules = { cors: { path: '/api/*', origins: [APP], maxAge: 60 } }

let site: AccessSite | undefined
/** What reached the handler. */
let seen: string[] = []
afterEach(() => {
  site?.close()
  site = undefined
  seen = []
})

async function started(
  access: AccessOptions = { bearer: BEARER },
  rules: TrafficRules = RULES,
): Promise<AccessSite> {
  const handler = ({ method, url }: Request): Response => {
    seen.push(`${method} ${new URL(url).pathname}`)
    return new Response('secret')
  }
  site = await AccessSite.start(withRules(handler, rules), access)
  return site
}

const options = (headers = {}) => ({ method: 'OPTIONS', headers: { ...PREFLIGHT, ...headers } })

it('the rule of the path answers a preflight, which the handler does not see', async () => {
  const { status, headers, text } = await (await started()).ask('/api/x', options())
  expect([status, text]).toEqual([204, ''])
  expect(headers.get('access-control-allow-origin')).toBe(APP)
  expect(headers.get('access-control-allow-headers')).toBe('authorization')
  expect(headers.get('access-control-max-age')).toBe('60')
  expect(seen).toEqual([])
})

it('the request that follows comes in with the token, and another origin reads nothing', async () => {
  const api = await started()
  const put = (origin: string) => ({
    method: 'PUT',
    headers: { Origin: origin, Authorization: `Bearer ${BEARER}`, 'Sec-Fetch-Site': 'cross-site' },
  })
  const answer = await api.ask('/api/x', put(APP))
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, APP])
  const other = await api.ask('/api/x', { ...options({ Origin: 'https://evil.example' }) })
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([204, null])
})

describe('what is no preflight is refused, and the handler does not see it', () => {
  it.each<[string, string, string, Record<string, string | undefined>]>([
    ['without an origin', '/api/x', 'OPTIONS', { Origin: undefined }],
    ['without a method', '/api/x', 'OPTIONS', { 'Access-Control-Request-Method': undefined }],
    ['with another method', '/api/x', 'GET', {}],
    ['at a path without a rule', '/private', 'OPTIONS', {}],
    ['at a path that means several', '/api/..%2Fprivate', 'OPTIONS', {}],
    ['at a path that leads out of the rule', '/api/../private', 'OPTIONS', {}],
  ])('%s', async (_, path, method, changed) => {
    const fields = Object.entries({ ...PREFLIGHT, ...changed }).filter(([, value]) => value !== undefined)
    const headers = Object.fromEntries(fields) as Record<string, string>
    const { status, text } = await (await started()).ask(path, { method, headers })
    expect([status, text]).toEqual([401, expect.not.stringContaining('secret')])
    expect(seen).toEqual([])
  })

  it('without a rule for other origins', async () => {
    expect(
      (await (await started(undefined, { responseHeaders: { set: { a: 'b' } } })).ask('/api/x', options()))
        .status,
    ).toBe(401)
    expect(seen).toEqual([])
  })
})

it('maintenance and redirects come before the preflight, so that nothing of them is told to strangers', async () => {
  const rules: TrafficRules = { ...RULES, maintenance: true, redirects: { path: '/api/old', to: '/secret' } }
  expect((await (await started(undefined, rules)).ask('/api/old', options())).status).toBe(401)
})

it('the lists of networks, the rate and the end of the site hold for preflights', async () => {
  await started({ bearer: BEARER, denyIp: ['192.0.2.0/24'], rate: '2/m' })
  expect((await site!.ask('/api/x', options(from('192.0.2.1')))).status).toBe(403)
  const statuses: number[] = []
  for (let asked = 0; asked < 3; asked += 1)
    statuses.push((await site!.ask('/api/x', options(from('198.51.100.1')))).status)
  expect(statuses).toEqual([204, 204, 429])
})

it('the paths of the sign-in are no part of the API', async () => {
  await started({ password: 'open sesame' }, { cors: { origins: ['*'] } })
  const { status, headers } = await site!.ask('/.svc/access/sign-in', options())
  expect([status, headers.get('access-control-allow-origin')]).toEqual([405, null])
})

it('a page of an allowed origin reads why it is refused, and one of another does not', async () => {
  await started()
  const asked = (origin: string, path = '/api/x') =>
    site!.ask(path, { headers: { Origin: origin, 'Sec-Fetch-Mode': 'cors' } })
  const { status, headers } = await asked(APP)
  expect([status, headers.get('access-control-allow-origin')]).toEqual([401, APP])
  expect(headers.get('vary')).toContain('Origin')
  for (const answer of [await asked('https://evil.example'), await asked(APP, '/private')])
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, null])
})
