// `GET /discovery`, `POST /discovery/announce` and bans of relays, at a real relay: statuses, budget, audit, metrics, workers.

import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { DISCOVERY_VERSION, type DiscoveryResponse, verifyDescriptor } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { signerOf } from '../../../../sdk-core/src/identity/key.ts'
import * as answer from '../../../src/core/api/endpoints/response-schemas.ts'
import { z } from '../../../src/core/config/schema.ts'
import { inventRelay } from '../../support/descriptors.ts'
import { parseExposition } from '../../support/exposition.ts'
import { type Answer, freePort, startTestRelay, type TestRelay } from '../../support/relay.ts'

const TOKEN = 'a-token-of-the-administrator'
const bearer = { Authorization: `Bearer ${TOKEN}` }
const ON = { DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' }
/** Nobody answers there. */
const NOWHERE = 'https://127.0.0.1:9'

let relay: TestRelay
let metricsPort: number
beforeAll(async () => {
  metricsPort = await freePort()
  relay = await startTestRelay({ ...ON, ADMIN_TOKEN: TOKEN, METRICS_ADDR: `${metricsPort}` })
})
afterAll(() => relay.close())

const list = async (query = ''): Promise<DiscoveryResponse> =>
  (await relay.call('GET', `/discovery${query}`)).json.data as unknown as DiscoveryResponse
const announce = (descriptor: unknown, to: TestRelay = relay): Promise<Answer> =>
  to.call('POST', '/discovery/announce', { protocol_version: DISCOVERY_VERSION, descriptor })
const ban = (name: string, is_banned: boolean): Promise<Answer> =>
  relay.call('POST', '/api/policy/relays', { relay: name, is_banned }, bearer)

describe('GET /discovery', () => {
  test('has the relay itself, with a descriptor that it signed', async () => {
    const { status, json, headers } = await relay.call('GET', '/discovery')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    const data = answer.discovery.parse(json.data)
    expect(data).toMatchObject({
      protocol_version: '9',
      incompatible_relays: [],
      relay_release_versions: {},
    })
    expect(data.relays).toHaveLength(1)
    const [own] = data.relays
    expect(own).toMatchObject({ api_https_addr: relay.origin, version: '9', supports_overlay: false })
    expect(await verifyDescriptor(own, Date.now(), signerOf)).toEqual({ descriptor: own })
    expect(await list('?relays=own')).toMatchObject({ relays: [{ address: own!.address }] })
  })
})

test('a page of any origin may read the list, and announce nothing (protocol §2.3.1, §2.3.3)', async () => {
  const origin = { Origin: 'https://page.example' }
  const readable = { 'access-control-allow-origin': '*' }
  expect(await relay.call('GET', '/discovery', undefined, origin)).toMatchObject({
    status: 200,
    headers: readable,
  })
  expect(await relay.call('OPTIONS', '/discovery', undefined, origin)).toMatchObject({
    status: 204,
    headers: { ...readable, 'access-control-allow-methods': 'GET' },
  })
  const preflight = await relay.call('OPTIONS', '/discovery/announce', undefined, origin)
  expect(preflight.status).toBe(405)
  const announced = await relay.call('POST', '/discovery/announce', {}, origin)
  for (const { headers } of [preflight, announced])
    expect(headers).not.toHaveProperty('access-control-allow-origin')
})

test('GET /sdk/domain says that the relay has discovery', async () => {
  const { json } = await relay.call('GET', '/sdk/domain')
  expect(answer.domain.parse(json.data)).toMatchObject({ discovery: true })
})

describe('POST /discovery/announce', () => {
  test('takes the signed descriptor of a relay with 202', async () => {
    const answered = await announce(inventRelay().describe(NOWHERE))
    expect(answered).toMatchObject({
      status: 202,
      json: { ok: true, data: { protocol_version: '9', accepted: true } },
    })
    // It does not answer: it is not passed on.
    expect((await list()).relays).toHaveLength(1)
  })

  test('of another protocol version is not accepted, with 202 (protocol §14.1.2)', async () => {
    const body = { protocol_version: '8', descriptor: {} }
    expect(await relay.call('POST', '/discovery/announce', body)).toMatchObject({
      status: 202,
      json: { data: { protocol_version: '9', accepted: false } },
    })
  })

  const minute = (count: number) => new Date(Date.now() + count * 60_000).toISOString()
  test.each<[string, number, string, () => unknown]>([
    ['no descriptor', 400, 'invalid_request', () => undefined],
    [
      'an expired one',
      400,
      'invalid_request',
      () => inventRelay().describe(NOWHERE, { expires_at: minute(-1) }),
    ],
    ['a forged one', 403, 'unauthorized', () => ({ ...inventRelay().describe(NOWHERE), tcp_bps: 1 })],
    ['its own origin', 400, 'invalid_request', () => inventRelay().describe(relay.origin)],
  ])('refuses %s with %i %s (protocol §14.1.2)', async (_what, status, code, make) => {
    expect(await announce(make())).toMatchObject({ status, json: { ok: false, error: { code } } })
  })

  test('costs 2 units of the budget before authentication (protocol §2.4.3)', async () => {
    const strict = await startTestRelay({ ...ON, SOURCE_BUDGET_PER_MINUTE: '3' })
    try {
      const statuses: number[] = []
      for (let i = 0; i < 12; i++) statuses.push((await announce(undefined, strict)).status)
      // The burst is 18 units.
      expect(statuses.slice(0, 9)).toEqual(Array(9).fill(400))
      expect(statuses.slice(9)).toContain(429)
    } finally {
      await strict.close()
    }
  })

  test('does not take a body over 16 KiB', async () => {
    expect(await announce({ address: 'x'.repeat(17_000) })).toMatchObject({ status: 400 })
  })
})

describe('a ban of a relay', () => {
  test('refuses it until it is lifted, is kept in policy.json, and audited (protocol §21.1.7)', async () => {
    const banned = inventRelay()
    expect(await ban(banned.address.toUpperCase().replace('0X', '0x'), true)).toMatchObject({ status: 200 })
    expect(await announce(banned.describe(NOWHERE))).toMatchObject({ status: 403 })
    expect(await ban('https://Other.Example/', true)).toMatchObject({ status: 200 })
    expect(await announce(inventRelay().describe('https://other.example'))).toMatchObject({ status: 403 })
    const policy = JSON.parse(await readFile(join(relay.directory, 'policy.json'), 'utf8'))
    expect(policy.banned_relays).toEqual([banned.address, 'https://other.example'])
    const decisions = await relay.call('GET', '/api/policy/decisions', undefined, bearer)
    expect(decisions.json.data).toMatchObject({ banned_relays: policy.banned_relays })
    const audit = await readFile(join(relay.directory, 'audit.jsonl'), 'utf8')
    expect(JSON.parse(audit.trimEnd().split('\n').at(-1)!)).toMatchObject({
      kind: 'relay',
      made: { relay: 'https://other.example', is_banned: true },
    })
    await ban(banned.address, false)
    expect(await announce(banned.describe(NOWHERE))).toMatchObject({ status: 202 })
  })

  test.each([
    '',
    'relay.example',
    'http://relay.example',
    'https://relay.example/path',
    `https://${'x'.repeat(250)}`,
  ])('of %j is invalid_request', async (name) => {
    expect(await ban(name, true)).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
  })
})

test('metrics count why relays were refused, and how many are known', async () => {
  await announce({ ...inventRelay().describe(NOWHERE), tcp_bps: 1 })
  await vi.waitFor(async () => {
    const families = parseExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
    const refusals = families.get('svc_relay_discovery_refusals_total')!.samples
    expect(refusals.get('svc_relay_discovery_refusals_total{reason="forged"}')).toBeGreaterThan(0)
    expect(refusals.get('svc_relay_discovery_refusals_total{reason="unreachable"}')).toBeGreaterThan(0)
    expect(refusals.get('svc_relay_discovery_refusals_total{reason="full"}')).toBe(0)
    for (const name of ['relays', 'relays_known', 'relays_waiting'])
      expect(families.get(`svc_relay_discovery_${name}`)!.samples.size).toBe(1)
  })
})

test.runIf(availableParallelism() > 1)(
  'with two processes each of them answers for the primary',
  async () => {
    const two = await startTestRelay({ ...ON, SVC_WORKERS: '2' })
    try {
      const addresses = new Set<string>()
      for (let i = 0; i < 16; i++) {
        const { json } = await two.call('GET', '/discovery')
        addresses.add((json.data as unknown as DiscoveryResponse).relays[0]!.address)
        expect(await announce(inventRelay().describe(NOWHERE), two)).toMatchObject({ status: 202 })
      }
      expect(addresses.size).toBe(1)
    } finally {
      await two.close()
    }
  },
)

test('the schemas are those of the wire', () => {
  expect(z.toJSONSchema(answer.relayDescriptor).required).toEqual([
    'address',
    'version',
    'issued_at',
    'expires_at',
    'api_https_addr',
    'wireguard_public_key',
    'wireguard_port',
    'supports_overlay',
    'supports_udp',
    'supports_tcp',
    'active_connections',
    'tcp_bps',
    'signature',
  ])
})
