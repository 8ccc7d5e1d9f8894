// The admin and policy endpoints over real HTTPS, and what a decision does to a lease.

import { once } from 'node:events'
import type { PolicyChange } from '@svc/protocol'
import { type PolicyStateResponse, SUBPROTOCOL } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { FIRST_BYTE_DEADLINE_MS } from '../../../src/core/bridge/tls-visitor.ts'
import { RecentPolicyChanges } from '../../../src/core/policy/recent-changes.ts'
import { DEFAULT_RESERVED_NAMES } from '../../../src/core/policy/reserved-names.ts'
import { ADMIN_ROUTES } from '../../support/admin-routes.ts'
import { connectWebSocket, openCarrier } from '../../support/carrier.ts'
import { newAccount, startTestRelay } from '../../support/relay.ts'

const TOKEN = 'correct horse battery staple'
/** A second, and the time of a slow machine: without a decision they would end after {@link FIRST_BYTE_DEADLINE_MS}. */
const SOON_MS: number = FIRST_BYTE_DEADLINE_MS - 1_000
const bearer = { Authorization: `Bearer ${encodeURIComponent(TOKEN)}` }
const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN: encodeURIComponent(TOKEN) }))

const post = (path: string, body: unknown, headers: Record<string, string> = bearer) =>
  relay.call('POST', path, body, headers)
const get = (path: string, headers: Record<string, string> = bearer) =>
  relay.call('GET', path, undefined, headers)

const state = async () => (await get('/api/policy/state')).json.data as unknown as PolicyStateResponse
const leaseOf = async (name: string) => (await state()).leases.find((lease) => lease.name === name)
const isPublic = async (name: string) => {
  const { data } = (await get('/api/state', {})).json as unknown as { data: { leases: { name: string }[] } }
  return data.leases.some((lease) => lease.name === name)
}

/**
 * Tells whether the relay lets visitors of `hostname` in, seen from what it does with their ClientHello. A refusal that comes late on a
 * slow machine is taken for none.
 */
async function isRouted(hostname: string): Promise<boolean> {
  const visitor = relay.tls(hostname)
  const error = once(visitor, 'error').then(([{ code }]) => code !== 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  const waits = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 300))
  const routed = await Promise.race([error, waits])
  visitor.destroy()
  return routed
}

describe('POST /api/admin/auth/login', () => {
  test('gives the admin token for itself; status tells who sent it', async () => {
    const login = await post('/api/admin/auth/login', { token: encodeURIComponent(TOKEN) }, {})
    expect(login).toMatchObject({ status: 200, json: { data: { access_token: encodeURIComponent(TOKEN) } } })
    expect((await get('/api/admin/auth/status')).json).toMatchObject({ data: { authenticated: true } })
    expect((await get('/api/admin/auth/status', {})).json).toMatchObject({ data: { authenticated: false } })
    expect(await post('/api/admin/auth/logout', {})).toMatchObject({
      status: 200,
      json: { ok: true, data: {} },
    })
  })

  test('without ADMIN_TOKEN there is no administration', async () => {
    const other = await startTestRelay()
    expect(await other.call('POST', '/api/admin/auth/login', { token: '' })).toMatchObject({ status: 503 })
    expect(
      await other.call('GET', '/api/policy', undefined, { Authorization: 'Bearer undefined' }),
    ).toMatchObject({
      status: 401,
    })
    await other.close()
  })
})

describe('without the bearer', () => {
  test.each(ADMIN_ROUTES)('%s %s is 401', async (method, path) => {
    const credentials = ['', TOKEN, encodeURIComponent(TOKEN), `Basic ${btoa(TOKEN)}`, 'Bearer', 'Bearer  ']
    for (const Authorization of credentials)
      expect(
        await relay.call(method, path, method === 'POST' ? {} : undefined, { Authorization }),
      ).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
        json: { error: { code: 'unauthorized' } },
      })
  })
})

const settings = {
  approval_mode: 'auto',
  landing_page_enabled: true,
  udp: { enabled: false, max_leases: 0 },
  tcp_port: { enabled: false, max_leases: 0 },
  reserved_names: [...DEFAULT_RESERVED_NAMES],
}

describe('policy', () => {
  test('settings are read, written and shown', async () => {
    expect((await get('/api/policy')).json.data).toEqual(settings)
    const changed = { ...settings, landing_page_enabled: false, udp: { enabled: true, max_leases: 3 } }
    expect((await post('/api/policy', changed)).json.data).toEqual(changed)
    expect((await get('/api/policy')).json.data).toEqual(changed)
    expect((await get('/api/state', {})).json).toMatchObject({ data: { landing_page_enabled: false } })
    await post('/api/policy', settings)
  })

  const BAN = { at: expect.any(String), by: 'ADMIN_TOKEN' }
  test('decisions are listed, also about those who have no lease', async () => {
    const { address } = newAccount()
    const key = `absent:${address.toLowerCase()}`
    const decide = (change: object) => post('/api/policy/leases', { identity_key: key, ...change })
    const decisions = async () => (await get('/api/policy/decisions')).json.data
    const none = {
      approved: [],
      denied: [],
      banned: [],
      banned_ips: [],
      banned_relays: [],
      banned_domains: [],
      bps: {},
    }
    expect(await decisions()).toEqual(none)
    await decide({ is_approved: true, is_banned: true, bps: 5000 })
    await post('/api/policy/ips', { ip: '2001:db8::1', is_banned: true })
    expect(await decisions()).toEqual({
      approved: [key],
      denied: [],
      banned: [key],
      banned_ips: ['2001:db8::/64'],
      banned_relays: [],
      banned_domains: [],
      bps: { [key]: 5000 },
      ban_details: {
        banned: { [key]: BAN },
        banned_ips: { '2001:db8::/64': BAN },
        banned_relays: {},
        banned_domains: {},
      },
    })
    await decide({ is_denied: true, is_banned: false, bps: 0 })
    await post('/api/policy/ips', { ip: '2001:db8::1', is_banned: false })
    expect(await decisions()).toEqual({ ...none, denied: [key] })
    await decide({ is_denied: false })
    expect(await decisions()).toEqual(none)
  })

  test('changes are listed with what takes them back, the newest first, and what was refused is not', async () => {
    const changes = async () =>
      ((await get('/api/policy/changes')).json.data as unknown as { changes: PolicyChange[] }).changes
    const [before] = await changes()
    const key = `changed:${newAccount().address.toLowerCase()}`
    await post('/api/policy/leases', { identity_key: key, is_approved: true, bps: 5000 })
    await post('/api/policy/leases', { identity_key: key, is_denied: true, bps: -1 })
    await post('/api/policy/leases', { identity_key: key, is_denied: true })
    await post('/api/policy/ips', { ip: '2001:DB8::2', is_banned: true })
    await post('/api/policy', { ...settings, approval_mode: 'manual' })
    const made = (await changes()).slice(0, 4)
    expect(made.map(({ kind, made, undo }) => [kind, made, undo])).toEqual([
      ['settings', { ...settings, approval_mode: 'manual' }, settings],
      ['ip', { ip: '2001:db8::/64', is_banned: true }, { ip: '2001:db8::/64', is_banned: false }],
      [
        'lease',
        { identity_key: key, is_denied: true },
        { identity_key: key, is_denied: false, is_approved: true },
      ],
      [
        'lease',
        { identity_key: key, is_approved: true, bps: 5000 },
        { identity_key: key, is_approved: false, bps: 0 },
      ],
    ])
    const last = before?.id ?? 0
    expect(made.map(({ id }) => id)).toEqual([last + 4, last + 3, last + 2, last + 1])
    expect(Date.now() - Date.parse(made[0]!.at)).toBeLessThan(60_000)

    const paths = {
      settings: '/api/policy',
      lease: '/api/policy/leases',
      leases: '/api/policy/leases/bulk',
      ip: '/api/policy/ips',
      relay: '/api/policy/relays',
      domain: '/api/policy/domains',
      name: '/api/policy/names',
    }
    for (const { kind, undo } of made) expect(await post(paths[kind], undo)).toMatchObject({ status: 200 })
    expect((await get('/api/policy')).json.data).toEqual(settings)
    const decisions = JSON.stringify((await get('/api/policy/decisions')).json.data)
    expect(decisions).not.toMatch(/changed|2001:db8::/)
  })

  test.each([
    ['an unknown mode', { ...settings, approval_mode: 'sometimes' }, 'invalid_mode'],
    ['fewer than no leases', { ...settings, udp: { enabled: true, max_leases: -1 } }, 'invalid_request'],
    ['no word on UDP', { ...settings, udp: undefined }, 'invalid_request'],
  ])('%s is refused', async (_what, body, code) => {
    expect(await post('/api/policy', body)).toMatchObject({ status: 400, json: { error: { code } } })
    expect((await get('/api/policy')).json.data).toEqual(settings)
  })

  test('manual approval: a lease routes only after it', async () => {
    await post('/api/policy', { ...settings, approval_mode: 'manual' })
    const { hostname, identity } = await relay.register('waiting')
    const key = `waiting:${identity.address}`
    expect(await leaseOf('waiting')).toMatchObject({
      identity_key: key,
      is_approved: false,
      client_ip: '127.0.0.1',
    })
    await expect
      .poll(async () => [await isPublic('waiting'), await isRouted(hostname)])
      .toEqual([false, false])
    await post('/api/policy/leases', {
      identity_key: key.toUpperCase().replace('0X', '0x'),
      is_approved: true,
    })
    expect([await isPublic('waiting'), await isRouted(hostname)]).toEqual([true, true])
    await post('/api/policy', settings)
  })

  test.each(['is_banned', 'is_denied'])('%s takes a lease off the routes, and back', async (flag) => {
    const name = flag.replace('_', '-')
    const { hostname, identity } = await relay.register(name)
    const key = `${name}:${identity.address}`
    expect(await isRouted(hostname)).toBe(true)
    expect(await post('/api/policy/leases', { identity_key: key, [flag]: true })).toMatchObject({
      status: 200,
      json: { ok: true, data: {} },
    })
    expect(await leaseOf(name)).toMatchObject({ [flag]: true })
    await expect.poll(async () => [await isPublic(name), await isRouted(hostname)]).toEqual([false, false])
    await post('/api/policy/leases', { identity_key: key, [flag]: false })
    expect(await isRouted(hostname)).toBe(true)
  })

  test.each([
    [{ identity_key: 'nonsense' }, 'invalid_request'],
    [{ identity_key: `a:0x${'ab'.repeat(20)}`, bps: -1 }, 'invalid_request'],
    [{ identity_key: `a:0x${'ab'.repeat(20)}`, is_banned: 'yes' }, 'invalid_request'],
  ])('%j is refused', async (body, code) => {
    expect(await post('/api/policy/leases', body)).toMatchObject({ status: 400, json: { error: { code } } })
  })

  test('a banned reported address: no registration with it, and no routing of what has it', async () => {
    const { identity } = await relay.register('reporter')
    expect(await post('/api/policy/ips', { ip: '203.0.113.9', is_banned: true })).toMatchObject({
      status: 200,
    })
    expect(await post('/api/policy/ips', { ip: '203.0.113', is_banned: true })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_ip' } },
    })
    const account = newAccount()
    const { json } = await post('/sdk/register/challenge', {
      identity: { name: 'banned', address: account.address },
    })
    const { challenge_id, siwe_message } = json.data as unknown as {
      challenge_id: string
      siwe_message: string
    }
    const body = {
      challenge_id,
      siwe_message,
      siwe_signature: await account.signMessage({ message: siwe_message }),
      reported_ip: '::ffff:203.0.113.9',
    }
    expect(await post('/sdk/register', body)).toMatchObject({
      status: 403,
      json: { error: { code: 'ip_banned' } },
    })
    expect(await leaseOf('reporter')).toMatchObject({ address: identity.address, is_ip_banned: false })
    await post('/api/policy/ips', { ip: '203.0.113.9', is_banned: false })
  })

  test('a banned source address gets ip_banned, and its leases are off the routes', async () => {
    const { hostname } = await relay.register('source')
    await post('/api/policy/ips', { ip: '127.0.0.1', is_banned: true })
    await expect(relay.register('more')).rejects.toThrow(/ip_banned/)
    expect(await leaseOf('source')).toMatchObject({ is_ip_banned: true })
    await expect.poll(() => isRouted(hostname)).toBe(false)
    await post('/api/policy/ips', { ip: '127.0.0.1', is_banned: false })
    expect(await isRouted(hostname)).toBe(true)
  })

  test('more than 64 KiB is refused', async () => {
    const answer = await post('/api/policy/ips', { ip: 'x'.repeat(64 * 1024), is_banned: true })
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringMatching(/larger/) } },
    })
  })
})

describe("a ban's effect on what is open", () => {
  test.each(['is_banned', 'is_denied', 'ip'])(
    '%s closes sessions and connections within a second, and keeps them out (protocol §21.1.3)',
    async (how) => {
      const name = `open-${how.replace('_', '-')}`
      const lease = await relay.register(name)
      const { capability } = lease.reverse_endpoint
      const carrier = await openCarrier(relay, capability)
      const { read } = await carrier.open(capability)
      await read(1)
      const visitor = relay.tls(lease.hostname)
      expect(await read(1)).toEqual(Buffer.of(0x02))
      const idle = await carrier.open(capability)
      await idle.read(1)
      const started = Date.now()
      const closed = Promise.all(
        [visitor, carrier.socket].map((one) => new Promise((resolve) => one.once('close', resolve))),
      )
      const ban = (active: boolean) =>
        how === 'ip'
          ? post('/api/policy/ips', { ip: '127.0.0.1', is_banned: active })
          : post('/api/policy/leases', { identity_key: `${name}:${lease.identity.address}`, [how]: active })
      await ban(true)
      await closed
      expect(Date.now() - started).toBeLessThan(SOON_MS)
      const refused = connectWebSocket(relay, [SUBPROTOCOL, capability])
      const [, response] = await once(refused, 'unexpected-response')
      const [body] = await once(response, 'data')
      expect([response.statusCode, JSON.parse(body).error.code]).toEqual([
        403,
        how === 'ip' ? 'ip_banned' : 'lease_rejected',
      ])
      await ban(false)
      expect((await openCarrier(relay, capability)).socket.readyState).toBe(1)
    },
  )
})

describe("a lost approval's effect on what is open", () => {
  test.each(['the mode', 'the identity'])(
    'by %s: sessions and connections close within a second, new sessions are taken, and answers say so',
    async (how) => {
      await post('/api/policy', settings)
      const name = how.replace(' ', '-')
      const lease = await relay.register(name)
      const { capability } = lease.reverse_endpoint
      const identity_key = `${name}:${lease.identity.address}`
      if (how === 'the identity') {
        await post('/api/policy/leases', { identity_key, is_approved: true })
        await post('/api/policy', { ...settings, approval_mode: 'manual' })
      }
      const carrier = await openCarrier(relay, capability)
      const { read } = await carrier.open(capability)
      await read(1)
      const visitor = relay.tls(lease.hostname)
      expect(await read(1)).toEqual(Buffer.of(0x02))
      const started = Date.now()
      const closed = Promise.all(
        [visitor, carrier.socket].map((one) => new Promise((resolve) => one.once('close', resolve))),
      )
      if (how === 'the mode') await post('/api/policy', { ...settings, approval_mode: 'manual' })
      else await post('/api/policy/leases', { identity_key, is_approved: false })
      await closed
      expect(Date.now() - started).toBeLessThan(SOON_MS)
      const routing = async (): Promise<unknown> => {
        const { json } = await relay.call('POST', '/sdk/reverse', { access_token: lease.access_token })
        return (json.data as { routing: string }).routing
      }
      expect(await routing()).toBe('approval')
      const again = await openCarrier(relay, capability)
      await (await again.open(capability)).read(1)
      // a change that does not concern the lease leaves its sessions alone
      await post('/api/policy/ips', { ip: '2001:db8::9', is_banned: true })
      await post('/api/policy/leases', { identity_key, is_approved: true })
      expect([await routing(), again.socket.readyState]).toEqual(['allowed', 1])
      await post('/api/policy/leases', { identity_key, is_banned: true })
      expect(await routing()).toBe('rejected')
      await post('/api/policy', settings)
    },
  )
})

test('no answer of the relay carries CORS headers on admin endpoints (protocol §2.3.3)', async () => {
  for (const path of ['/api/policy', '/api/admin/auth/status'])
    expect((await get(path)).headers).not.toHaveProperty('access-control-allow-origin')
})

test('no endpoint sets a cookie, and one that is sent is no credential (protocol §2.1.7)', async () => {
  const token = encodeURIComponent(TOKEN)
  const Cookie = `access_token=${token}; token=${token}; Authorization=Bearer ${token}`
  const login = await post('/api/admin/auth/login', { token }, { Cookie })
  expect(login.status).toBe(200)
  const paths = ['/', '/sdk/domain', '/api/state', '/api/policy']
  const asked = await Promise.all(paths.map((path) => get(path, { Cookie })))
  for (const { headers } of [login, ...asked]) expect(headers).not.toHaveProperty('set-cookie')
  expect(asked.at(-1)).toMatchObject({ status: 401, json: { error: { code: 'unauthorized' } } })
})

test('of changes the last hundred are kept', async () => {
  const changes = new RecentPolicyChanges()
  for (let count = 0; count < 250; count += 1) {
    const made = { ip: '192.0.2.1', is_banned: count % 2 === 0 }
    const undo = { ...made, is_banned: !made.is_banned }
    await changes.add({ kind: 'ip', made, undo }, 'ADMIN_TOKEN', '2026-01-01T00:00:00Z')
  }
  expect((await changes.list()).map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => 250 - at))
})
