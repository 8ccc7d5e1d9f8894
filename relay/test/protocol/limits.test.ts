// The protocol: limits and versioning.

import { connect } from 'node:net'
import { BINDING_BYTES, BUDGET_COST, READY_SESSIONS_MAX, type RegisterResponse } from '@svc/protocol'
import { expect, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { newAccount } from '../support/relay.ts'
import { everyRow, failsWith, marker, PORTS, startWorld, type World, withWorld } from './every-row.ts'

const world = useStarted(startWorld)
/** Has its ports and its source to itself. */
const other = useStarted(startWorld)

const challenge = (on: World, fields: object = {}) =>
  on.post('/sdk/register/challenge', {
    identity: { name: 'limits', address: newAccount().address },
    ...fields,
  })

const secondsLeft = ({ expires_at }: { expires_at: string }) => (Date.parse(expires_at) - Date.now()) / 1000

function unlimited(field: 'udp_enabled' | 'tcp_enabled') {
  return async () => {
    const ports = new Set<number>()
    for (let i = 0; i < PORTS; i++) {
      const lease = await other.lease({ [field]: true })
      ports.add(Number((lease.udp_addr ?? lease.tcp_addr)?.split(':')[1]))
    }
    expect(ports.size).toBe(PORTS)
  }
}

everyRow('Limits', {
  'lease ttl default: 120 s, also for non-positive values': async () => {
    for (const fields of [{}, { ttl: 0 }, { ttl: -5 }]) {
      const left = secondsLeft(await world.lease(fields))
      expect(left).toBeGreaterThan(110)
      expect(left).toBeLessThanOrEqual(120)
    }
  },
  'lease ttl maximum: 600 s': async () => {
    expect(secondsLeft(await world.lease({ ttl: 600 }))).toBeGreaterThan(590)
    expect(await challenge(world, { ttl: 601 })).toMatchObject(failsWith(400, 'invalid_request'))
  },
  'lease name: at most 22 characters (protocol §3.1.1)': async () => {
    expect((await world.register('n'.repeat(22))).identity.name).toHaveLength(22)
    await expect(world.register('n'.repeat(23))).rejects.toThrow(/invalid_request/)
  },
  'canonical label: name and 40 lower-case hex characters (protocol §3.1.6)': async () => {
    const { canonical_hostname, identity } = await world.lease()
    const label = canonical_hostname.split('.')[0]!
    expect(label.slice(identity.name.length)).toMatch(/^-[0-9a-f]{40}$/)
    expect(label.length).toBeLessThanOrEqual(63)
  },
  'activation binding: 16 bytes': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    const visitor = world.tls(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    const [handshake] = (await session.read(BINDING_BYTES + 1)).subarray(16)
    expect(handshake).toBe(22)
    visitor.destroy()
  },
  'port range: MIN_PORT through MAX_PORT for TCP and UDP': async () => {
    const lease = await world.lease({ tcp_enabled: true, udp_enabled: true })
    for (const address of [lease.tcp_addr, lease.udp_addr]) {
      const port = Number(address?.split(':')[1])
      expect(port).toBeGreaterThanOrEqual(world.firstPort)
      expect(port).toBeLessThan(world.firstPort + PORTS)
    }
  },
  'udp.max_leases: 0 is unlimited': unlimited('udp_enabled'),
  'tcp_port.max_leases: 0 is unlimited': unlimited('tcp_enabled'),
  'bps: bytes per second of the identity (protocol §9.2.5, §21.1.6)': async () => {
    const lease = await world.lease({ tcp_enabled: true })
    await world.decide(lease, { bps: 30_000 })
    const session = await world.session(lease)
    const client = connect(Number(lease.tcp_addr?.split(':')[1]), '127.0.0.1')
    expect(await marker(session)).toBe(0x01)
    const start = performance.now()
    client.write(Buffer.alloc(60_000))
    await session.read(60_000)
    client.write('more')
    await session.read(4)
    // One second's worth may have been saved up; the other takes its second.
    expect(performance.now() - start).toBeGreaterThan(900)
    client.destroy()
  },
  'ready sessions: 8 of a lease (protocol §7.5.1)': async () => {
    const lease = await world.lease()
    const sessions = []
    for (let i = 0; i < READY_SESSIONS_MAX; i++) sessions.push(await world.session(lease))
    await expect(world.session(lease)).rejects.toThrow(/ 429 /)
    for (const session of sessions) session.abort()
  },
  'budget: 60 units at once from one source (protocol §2.4.1, §2.4.3)': () =>
    withWorld({ SOURCE_BUDGET_PER_MINUTE: '10' }, async (limited) => {
      // The relay's clock stands still: no unit comes back while this takes long.
      const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint())
      for (let i = 0; i < 60 / BUDGET_COST.register; i++)
        expect(await limited.post('/sdk/register', {})).toMatchObject(failsWith(400, 'invalid_request'))
      expect(await challenge(limited)).toMatchObject(failsWith(429, 'rate_limited'))
      clock.mockRestore()
    }),
  'challenges: 32 open ones of a source (protocol §2.4.5)': () =>
    withWorld({ SOURCE_BUDGET_PER_MINUTE: '10' }, async (limited) => {
      for (let i = 0; i < 32; i++) expect(await challenge(limited)).toMatchObject({ status: 201 })
      expect(await challenge(limited)).toMatchObject({
        ...failsWith(429, 'rate_limited'),
        headers: { 'retry-after': '2' },
      })
    }),
  'admin login: 5 failures a minute (protocol §2.4.6)': async () => {
    const login = () => other.post('/api/admin/auth/login', { token: 'guess' })
    for (let i = 0; i < 5; i++) expect(await login()).toMatchObject(failsWith(401, 'unauthorized'))
    expect(await login()).toMatchObject(failsWith(429, 'rate_limited'))
  },
  'body: 16 KiB, 384 KiB with metadata, 64 KiB on admin routes (protocol §2.2.2)': async () => {
    const padded = (bytes: number) => JSON.stringify({ token: 'x', padding: 'x'.repeat(bytes) })
    for (const [path, maxBytes] of [
      ['/sdk/register/challenge', 384 * 1024],
      ['/sdk/register', 16 * 1024],
      ['/sdk/renew', 384 * 1024],
      ['/sdk/reverse', 16 * 1024],
      ['/sdk/unregister', 16 * 1024],
    ] as const) {
      expect(await world.post(path, padded(maxBytes))).toMatchObject({
        json: { error: { message: `the body is larger than ${maxBytes} bytes` } },
      })
      expect(await world.post(path, padded(16_000))).toMatchObject({
        json: { error: { message: expect.not.stringContaining('larger') } },
      })
    }
    expect(await world.admin('POST', '/api/policy/ips', padded(64 * 1024))).toMatchObject({
      json: { error: { message: expect.stringContaining('larger than 65536 bytes') } },
    })
  },
})

everyRow('Versioning', {
  'GET /sdk/domain tells protocol_version and release_version': async () => {
    const { json } = await world.call('GET', '/sdk/domain')
    expect(json.data).toMatchObject({
      protocol_version: '10',
      release_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
  },
  'protocol 10 without allow_canonical_fallback: hostname_conflict; with it: canonical only': async () => {
    const { identity } = await world.lease()
    await expect(world.register(identity.name)).rejects.toThrow(/hostname_conflict/)
    const second: RegisterResponse = await world.register(identity.name, { allow_canonical_fallback: true })
    expect(second).toMatchObject({ hostname: '', canonical_hostname: expect.stringMatching(/./) })
  },
  'installer binaries: an incompatible version is rejected (protocol §20.1.3)': async () => {
    const answer = await world.call('GET', '/api/install/bin/js-wasm?version=0.0.0-other')
    expect(answer).toMatchObject({ status: 409 })
  },
  'paths are unversioned except /v1/sign': async () => {
    const { json } = await world.call('GET', '/api/openapi.json')
    const { paths } = json as unknown as { paths: object }
    expect(Object.keys(paths).filter((path) => /\/v\d/.test(path))).toEqual(['/v1/sign'])
  },
})
