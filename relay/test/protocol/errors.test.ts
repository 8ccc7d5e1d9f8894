// The protocol: every error code with its status, from the request that a client would meet it with.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { apiSocket, connectRequest, socketReader } from '../support/api-socket.ts'
import { newAccount } from '../support/relay.ts'
import { everyRow, failsWith, startWorld, type World, withWorld } from './every-row.ts'

const world = useStarted(startWorld)
/** Has one port of each kind and no administrator. */
const narrow = useStarted(async () => {
  const port = String(await freeRange(1))
  return startWorld({ ADMIN_TOKEN: '', MIN_PORT: port, MAX_PORT: port })
})

const challenge = (on: World, fields: object = {}) =>
  on.post('/sdk/register/challenge', {
    identity: { name: 'errs', address: newAccount().address },
    ...fields,
  })

/** The answer to what is written by hand to `GET /sdk/connect`. */
async function connectAnswer(request: string): Promise<string> {
  const socket = await apiSocket(world)
  socket.write(request)
  const answer = await socketReader(socket)(4096)
  socket.destroy()
  return answer.toString('latin1')
}

async function setPorts(kind: 'udp' | 'tcp_port', ports: object): Promise<void> {
  const { data } = (await world.admin('GET', '/api/policy')).json as unknown as { data: object }
  await world.admin('POST', '/api/policy', { ...data, [kind]: ports })
}

function disabled(kind: 'udp' | 'tcp_port', field: string) {
  return async () => {
    await setPorts(kind, { enabled: false, max_leases: 0 })
    expect(await challenge(world, { [field]: true })).toMatchObject(failsWith(403, `${kind}_disabled`))
    await setPorts(kind, { enabled: true, max_leases: 0 })
  }
}

function exceeded(kind: 'udp' | 'tcp_port', field: string) {
  return async () => {
    await world.lease({ [field]: true })
    await setPorts(kind, { enabled: true, max_leases: 1 })
    expect(await challenge(world, { [field]: true })).toMatchObject(
      failsWith(503, `${kind}_capacity_exceeded`),
    )
    await setPorts(kind, { enabled: true, max_leases: 0 })
  }
}

function exhausted(kind: 'udp' | 'tcp_port', field: string) {
  return async () => {
    await narrow.lease({ [field]: true })
    await expect(narrow.lease({ [field]: true })).rejects.toThrow(
      kind === 'udp' ? /udp_port_exhausted/ : /tcp_port_exhausted/,
    )
  }
}

everyRow('Errors', {
  'invalid_json 400 (protocol §2.2.1)': async () =>
    expect(await world.post('/sdk/renew', '{')).toMatchObject(failsWith(400, 'invalid_json')),
  'invalid_request 400': async () =>
    expect(await world.post('/sdk/renew', '{}')).toMatchObject(failsWith(400, 'invalid_request')),
  'method_not_allowed 405 (protocol §2.2.6)': async () => {
    const answer = await world.call('GET', '/sdk/renew')
    expect(answer).toMatchObject({ ...failsWith(405, 'method_not_allowed'), headers: { allow: 'POST' } })
  },
  'unauthorized 403': async () =>
    expect(await world.post('/sdk/renew', { access_token: 'no-token' })).toMatchObject(
      failsWith(403, 'unauthorized'),
    ),
  'unauthorized 401 on admin and policy routes (protocol §23.1.1)': async () =>
    expect(await world.call('GET', '/api/policy')).toMatchObject(failsWith(401, 'unauthorized')),
  'feature_unavailable 503': async () =>
    expect(await narrow.post('/api/admin/auth/login', { token: 'x' })).toMatchObject(
      failsWith(503, 'feature_unavailable'),
    ),
  'rate_limited 429 (protocol §2.2.8)': () =>
    withWorld({ SOURCE_BUDGET_PER_MINUTE: '1' }, async (other) => {
      let answer = await challenge(other)
      for (let i = 0; i < 20 && answer.status === 201; i++) answer = await challenge(other)
      expect(answer).toMatchObject(failsWith(429, 'rate_limited'))
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }),
  'hostname_conflict 409': async () => {
    const { identity } = await world.lease()
    const account = newAccount()
    const { json } = await challenge(world, { identity: { ...identity, address: account.address } })
    const { challenge_id, siwe_message } = json.data as unknown as Record<string, string>
    const siwe_signature = await account.signMessage({ message: siwe_message! })
    const answer = await world.post('/sdk/register', { challenge_id, siwe_message, siwe_signature })
    expect(answer).toMatchObject(failsWith(409, 'hostname_conflict'))
  },
  'lease_not_found 404 (protocol §5.1.4)': async () => {
    const { access_token } = await world.lease()
    await world.post('/sdk/unregister', { access_token })
    expect(await world.post('/sdk/renew', { access_token })).toMatchObject(failsWith(404, 'lease_not_found'))
  },
  'lease_rejected 403 (protocol §7.1.2, §21.1.1)': async () => {
    const lease = await world.lease()
    await world.decide(lease, { is_banned: true })
    const answer = await connectAnswer(connectRequest(lease.reverse_endpoint.capability, []))
    expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*"lease_rejected"/)
  },
  'ip_banned 403 (protocol §6.2.3, §21.1.4)': async () => {
    const { access_token } = await world.lease()
    await world.admin('POST', '/api/policy/ips', { ip: '192.0.2.66', is_banned: true })
    expect(await world.post('/sdk/renew', { access_token, reported_ip: '192.0.2.66' })).toMatchObject(
      failsWith(403, 'ip_banned'),
    )
  },
  'invalid_address 400 (protocol §3.1.3)': async () =>
    expect(await challenge(world, { identity: { name: 'errs', address: '0x12' } })).toMatchObject(
      failsWith(400, 'invalid_address'),
    ),
  'invalid_ip 400 (protocol §20.2.4)': async () =>
    expect(await world.admin('POST', '/api/policy/ips', { ip: 'nowhere', is_banned: true })).toMatchObject(
      failsWith(400, 'invalid_ip'),
    ),
  'invalid_mode 400 (protocol §20.2.1)': async () => {
    const { data } = (await world.admin('GET', '/api/policy')).json as unknown as { data: object }
    expect(await world.admin('POST', '/api/policy', { ...data, approval_mode: 'maybe' })).toMatchObject(
      failsWith(400, 'invalid_mode'),
    )
  },
  'http11_only 505 (protocol §7.1.1)': async () => {
    const { reverse_endpoint } = await world.lease()
    const answer = await connectAnswer(connectRequest(reverse_endpoint.capability, [], '1.0'))
    expect(answer).toMatch(/^HTTP\/1\.1 505 [\s\S]*"http11_only"/)
  },
  'hijack_unsupported 500 (protocol §7.1.4)': async () => {
    const { reverse_endpoint } = await world.lease()
    // In one write: the first answer is still owed when the second request is read.
    const owed =
      'POST /sdk/renew HTTP/1.1\r\nHost: relay.localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    const answer = await connectAnswer(owed + connectRequest(reverse_endpoint.capability, []))
    expect(answer).toMatch(/HTTP\/1\.1 500 [\s\S]*"hijack_unsupported"/)
  },
  'udp_disabled 403': disabled('udp', 'udp_enabled'),
  'udp_capacity_exceeded 503': exceeded('udp', 'udp_enabled'),
  'udp_port_exhausted 503': exhausted('udp', 'udp_enabled'),
  'tcp_port_disabled 403': disabled('tcp_port', 'tcp_enabled'),
  'tcp_port_capacity_exceeded 503': exceeded('tcp_port', 'tcp_enabled'),
  'tcp_port_exhausted 503': exhausted('tcp_port', 'tcp_enabled'),
  'transport_mismatch 409 (protocol §6.2.2)': async () => {
    const { access_token } = await world.lease()
    expect(await world.post('/sdk/renew', { access_token, udp_enabled: true })).toMatchObject(
      failsWith(409, 'transport_mismatch'),
    )
  },
  'internal 500': () =>
    withWorld({}, async (other) => {
      // A file where the directory was: the decision cannot be written down any more.
      await rm(other.directory, { recursive: true })
      await writeFile(other.directory, '')
      expect(
        await other.admin('POST', '/api/policy/ips', { ip: '192.0.2.1', is_banned: true }),
      ).toMatchObject(failsWith(500, 'internal'))
      await rm(other.directory)
      await mkdir(other.directory)
    }),
})
