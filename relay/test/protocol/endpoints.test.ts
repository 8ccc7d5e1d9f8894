// The protocol: every endpoint of this relay, the rules of registration and connecting, and what is outside the envelope.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type PolicySettings,
  PROGRAM_SLUGS,
  type RegisterChallengeResponse,
  type RegisterResponse,
  SUBPROTOCOL,
} from '@svc/protocol'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildRelayPages } from '../../../tools/bundler/relay-pages.ts'
import { apiSocket, connectRequest, readHead, socketReader, UPGRADE_HEADERS } from '../support/api-socket.ts'
import { connectWebSocket, openCarrier } from '../support/carrier.ts'
import { newAccount } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'
import { ADMIN_TOKEN, everyRow, failsWith, keyOf, startWorld, type World, withWorld } from './every-row.ts'

let world: World
beforeAll(async () => {
  await buildRelayPages()
  const site = await mkdtemp(join(tmpdir(), 'svc-protocol-site-'))
  await writeFile(join(site, 'index.html'), 'the frontend')
  await mkdir(join(site, 'bin'))
  for (const name of ['install.sh', 'install.ps1', ...PROGRAM_SLUGS.map((slug) => `bin/${slug}`)])
    await writeFile(join(site, name), name)
  world = await startWorld({ SVC_SITE_DIR: site, SVC_INSTALL_DIR: site })
})
afterAll(() => world.close())

const get = (path: string) => world.call('GET', path)
const ok = (data: unknown, status = 200) => ({ status, json: { ok: true, data } })
const settings = async () => (await world.admin('GET', '/api/policy')).json.data as unknown as PolicySettings

async function offered(path: string): Promise<void> {
  const name = path.replace('/api/install/bin', 'bin').replace('/api/', '')
  expect(await get(path)).toMatchObject({ status: 200, text: name })
  expect(await world.call('HEAD', path)).toMatchObject({ status: 200, text: '' })
}

/** What a native client is answered that shows `capability`. */
async function connectHead(capability: string, version = '1.1'): Promise<string> {
  const socket = await apiSocket(world)
  socket.write(connectRequest(capability, UPGRADE_HEADERS, version))
  const head = await readHead(socketReader(socket))
  socket.destroy()
  return head
}

/** The gates of dedicated ports that one relay after the other shuts. */
async function gates(wanted: 'udp_enabled' | 'tcp_enabled', kind: 'udp' | 'tcp_port'): Promise<void> {
  const refused = async (code: string) =>
    expect(world.lease({ [wanted]: true })).rejects.toThrow(new RegExp(code))
  const before = await settings()
  expect(await world.lease({ [wanted]: true })).toMatchObject({ [wanted]: true })
  await world.admin('POST', '/api/policy', { ...before, [kind]: { enabled: false, max_leases: 0 } })
  await refused(`${kind}_disabled`)
  await world.admin('POST', '/api/policy', { ...before, [kind]: { enabled: true, max_leases: 1 } })
  await refused(`${kind}_capacity_exceeded`)
  await world.admin('POST', '/api/policy', before)
  for (const env of [
    { UDP_ENABLED: 'false', TCP_ENABLED: 'false' },
    { MIN_PORT: '', MAX_PORT: '' },
  ]) {
    await withWorld(env, (other) =>
      expect(other.lease({ [wanted]: true })).rejects.toThrow(new RegExp(`${kind}_disabled`)),
    )
  }
}

everyRow('Endpoints, public', {
  'GET / the frontend': async () =>
    expect(await get('/')).toMatchObject({ status: 200, text: 'the frontend' }),
  'GET /api/healthz {status}': async () =>
    expect(await get('/api/healthz')).toMatchObject(ok({ status: 'ok' })),
  'GET /api/state PublicStateResponse (protocol §20.1.1)': async () => {
    const shown = await world.lease()
    const hidden = await world.lease({ metadata: { hide: true } })
    const { leases } = (await get('/api/state')).json.data as unknown as { leases: { name: string }[] }
    const names = leases.map(({ name }) => name)
    expect(names).toContain(shown.identity.name)
    expect(names).not.toContain(hidden.identity.name)
  },
  'GET, HEAD /api/install.sh': () => offered('/api/install.sh'),
  'GET, HEAD /api/install.ps1': () => offered('/api/install.ps1'),
  'GET, HEAD /api/install/bin/{slug}': async () => {
    const systems = ['linux', 'darwin', 'windows'].flatMap((name) => [`${name}-amd64`, `${name}-arm64`])
    for (const slug of systems) await offered(`/api/install/bin/${slug}`)
    for (const slug of ['js-wasm', 'wasm-exec'])
      expect(await get(`/api/install/bin/${slug}`)).toMatchObject({
        status: 200,
        text: expect.stringContaining('publish'),
        headers: { 'content-type': expect.stringMatching(/^text\/javascript/) },
      })
  },
  'paths not reserved fall back to the frontend or a plain 404 (protocol §20.1.4)': async () => {
    for (const path of ['/api/nothing', '/sdk/nothing', '/nothing'])
      expect(await get(path)).toMatchObject({ status: 404, text: 'Not found\n' })
    expect(await get('/index.html')).toMatchObject({ status: 200, text: 'the frontend' })
  },
})

everyRow('Endpoints, SDK', {
  'GET /sdk/domain': async () => expect(await get('/sdk/domain')).toMatchObject({ status: 200 }),
  'POST /sdk/register/challenge': async () => {
    const identity = { name: 'asked', address: newAccount().address }
    expect(await world.post('/sdk/register/challenge', { identity })).toMatchObject(
      ok({ challenge_id: expect.stringMatching(/^rch_[0-9a-f]{16}$/) }, 201),
    )
  },
  'POST /sdk/register': async () => expect(await world.lease()).toHaveProperty('canonical_hostname'),
  'POST /sdk/renew: times in UTC with milliseconds (protocol §2.2.7)': async () => {
    const { access_token } = await world.lease()
    const expires_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await world.post('/sdk/renew', { access_token })).toMatchObject(ok({ expires_at }))
  },
  'POST /sdk/reverse': async () => {
    const { access_token } = await world.lease()
    expect(await world.post('/sdk/reverse', { access_token })).toMatchObject(
      ok({ url: `${world.origin}/sdk/connect`, overlay: false }),
    )
  },
  'POST /sdk/unregister': async () => {
    const { access_token } = await world.lease()
    const answer = await world.post('/sdk/unregister', { access_token })
    expect(answer.json).toEqual({ ok: true, data: {} })
  },
  'GET /sdk/connect': async () => {
    const session = await world.session(await world.lease())
    session.abort()
  },
})

everyRow('Endpoints, admin and policy', {
  'POST /api/admin/auth/login': async () =>
    expect(await world.post('/api/admin/auth/login', { token: ADMIN_TOKEN })).toMatchObject(
      ok({ access_token: ADMIN_TOKEN }),
    ),
  'GET /api/admin/auth/status': async () => {
    expect(await world.admin('GET', '/api/admin/auth/status')).toMatchObject(ok({ authenticated: true }))
    expect(await get('/api/admin/auth/status')).toMatchObject(ok({ authenticated: false }))
  },
  'POST /api/admin/auth/logout': async () =>
    expect(await world.admin('POST', '/api/admin/auth/logout')).toMatchObject(ok({})),
  'GET /api/policy': async () =>
    expect(await world.admin('GET', '/api/policy')).toMatchObject(ok({ approval_mode: 'auto' })),
  'POST /api/policy': async () => {
    const before = await settings()
    const changed = { ...before, landing_page_enabled: false }
    expect(await world.admin('POST', '/api/policy', changed)).toMatchObject(ok(changed))
    expect(await settings()).toEqual(changed)
    await world.admin('POST', '/api/policy', before)
  },
  'GET /api/policy/state (protocol §20.2.2)': async () => {
    const lease = await world.lease()
    expect(await world.policyLease(lease)).toMatchObject({
      identity_key: keyOf(lease),
      address: lease.identity.address,
      bps: 0,
      client_ip: '127.0.0.1',
      is_approved: true,
      is_banned: false,
      is_denied: false,
      is_ip_banned: false,
      ip_bans: [],
    })
    await world.decide(lease, { is_denied: true })
    expect(await world.policyLease(lease)).toMatchObject({ is_approved: false, is_denied: true })
  },
  'POST /api/policy/leases': async () => world.decide(await world.lease(), { bps: 1 }),
  'POST /api/policy/ips': async () => {
    for (const is_banned of [true, false])
      expect(await world.admin('POST', '/api/policy/ips', { ip: '192.0.2.1', is_banned })).toMatchObject(
        ok({}),
      )
  },
  'updates are partial, persist to policy.json and return {} (protocol §20.2.3, §20.2.5)': async () => {
    const lease = await world.lease()
    await world.decide(lease, { bps: 7 })
    await world.decide(lease, { is_banned: true })
    const file = JSON.parse(await readFile(join(world.directory, 'policy.json'), 'utf8'))
    expect(file.identity_bps).toMatchObject({ [keyOf(lease)]: 7 })
    expect(file.banned_identity_keys).toContain(keyOf(lease))
  },
  'max_leases must be non-negative (protocol §20.2.1)': async () => {
    const udp = { enabled: true, max_leases: -1 }
    expect(await world.admin('POST', '/api/policy', { ...(await settings()), udp })).toMatchObject(
      failsWith(400, 'invalid_request'),
    )
  },
})

everyRow('Endpoints, delegated', {
  'POST /v1/sign': async () => {
    const lease = await world.lease()
    const other = await world.lease()
    const carrier = await openCarrier(world, capabilityOf(lease))
    const activated = await activate(world, carrier, lease)
    const chain = new X509Certificate((await get('/sdk/certificate-chain')).text)
    const request = genuine(activated, [chain.raw])
    const wrong = { ...request, binding: Buffer.alloc(16) }
    for (const [token, fields, status] of [
      [lease.access_token, wrong, 403],
      [other.access_token, request, 403],
      [lease.access_token, request, 200],
    ] as const)
      expect(await sign(world, token, fields)).toMatchObject({ status })
    carrier.socket.terminate()
  },
})

everyRow('Registration rules', {
  '1 domain, challenge, sign, register, renew, reverse, unregister': async () => {
    expect(await get('/sdk/domain')).toMatchObject(ok({ protocol_version: '10' }))
    const { access_token } = await world.lease()
    for (const path of ['/sdk/renew', '/sdk/reverse', '/sdk/unregister'])
      expect(await world.post(path, { access_token })).toMatchObject({ status: 200 })
  },
  '2 only a signature of the identity key over the message registers (protocol §4.3.4, §4.4.1)': async () => {
    const [account, other] = [newAccount(), newAccount()]
    const register = async (signer: typeof account, change: (message: string) => string) => {
      const identity = { name: 'proven', address: account.address }
      const { json } = await world.post('/sdk/register/challenge', { identity })
      const { challenge_id, siwe_message } = json.data as unknown as RegisterChallengeResponse
      const siwe_signature = await signer.signMessage({ message: change(siwe_message) })
      return world.post('/sdk/register', { challenge_id, siwe_message, siwe_signature })
    }
    const same = (message: string) => message
    expect(await register(other, same)).toMatchObject(failsWith(403, 'unauthorized'))
    expect(await register(account, (message) => `${message} `)).toMatchObject(failsWith(403, 'unauthorized'))
    expect(await register(account, same)).toMatchObject({ status: 201 })
  },
  '3 the name must normalize to one label of at most 22 characters': async () => {
    expect((await world.register('A'.repeat(22))).identity.name).toBe('a'.repeat(22))
    await expect(world.register('a'.repeat(23))).rejects.toThrow(/invalid_request/)
  },
  '4 UDP: server gate, range, policy and capacity (protocol §4.4.7)': () => gates('udp_enabled', 'udp'),
  '4 TCP: server gate, range, policy and capacity (protocol §4.4.7)': () => gates('tcp_enabled', 'tcp_port'),
  '5 a taken friendly name without fallback: hostname_conflict (protocol §4.4.4)': async () => {
    const { identity } = await world.lease()
    await expect(world.register(identity.name)).rejects.toThrow(/hostname_conflict/)
  },
  '6 a ttl above 600: HTTP 400': async () => {
    const identity = { name: 'long', address: newAccount().address }
    const { access_token } = await world.lease()
    for (const [path, body] of [
      ['/sdk/register/challenge', { identity, ttl: 601 }],
      ['/sdk/renew', { access_token, ttl: 601 }],
    ] as const)
      expect(await world.post(path, body)).toMatchObject(failsWith(400, 'invalid_request'))
  },
})

const capabilityOf = (lease: RegisterResponse) => lease.reverse_endpoint.capability

everyRow('Connect rules', {
  'HTTP/1.1 and the capability header (protocol §7.1.1, §7.1.4)': async () => {
    const lease = await world.lease()
    expect(await connectHead(capabilityOf(lease), '1.0')).toMatch(/^HTTP\/1\.1 505 /)
    expect(await connectHead(capabilityOf(lease))).toMatch(/^HTTP\/1\.1 101 /)
  },
  'native: 101, then raw session bytes (protocol §7.1.3)': async () => {
    const head = await connectHead(capabilityOf(await world.lease()))
    expect(head).toBe('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n')
  },
  'browser: WebSocket with the two subprotocols, then streams (protocol §7.2.1)': async () => {
    const capability = capabilityOf(await world.lease())
    const { socket, open } = await openCarrier(world, capability)
    expect(socket.protocol).toBe(SUBPROTOCOL)
    expect(await (await open(capability)).read(1)).toEqual(Buffer.of(0x00))
    socket.terminate()
  },
  'failures before the upgrade are enveloped (protocol §7.1.2)': async () => {
    const socket = connectWebSocket(world, [SUBPROTOCOL, 'no-capability'])
    const [, response] = await once(socket, 'unexpected-response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
      ok: false,
      error: { code: 'unauthorized' },
    })
  },
  'the lease instance and the capability are validated': async () => {
    const account = newAccount()
    const first = await world.register('instance', { account })
    await world.register('instance', { account })
    expect(await connectHead(capabilityOf(first))).toMatch(/^HTTP\/1\.1 404 /)
    expect(await connectHead(first.access_token)).toMatch(/^HTTP\/1\.1 403 /)
  },
})

everyRow('Envelope exceptions', {
  '/sdk/connect': async () =>
    expect(await connectHead(capabilityOf(await world.lease()))).not.toContain('Content-Type'),
  '/v1/sign': async () => {
    const { access_token } = await world.lease()
    const { json } = await world.post('/v1/sign', {}, { 'X-Svc-Access-Token': access_token })
    expect(json).not.toHaveProperty('ok')
  },
  '/api/install.sh, .ps1 and bin': async () => {
    expect((await get('/api/install.sh')).text).toBe('install.sh')
    expect((await get('/api/install/bin/windows-arm64')).text).not.toContain('"ok"')
  },
  'unknown routes (protocol §2.2.5)': async () => expect((await get('/unknown')).text).not.toContain('"ok"'),
})
