// Relays that other relays know (wire, "Discovery"): which of them are taken, and which are not.

import { randomBytes } from 'node:crypto'
import type { RelayDescriptor } from '@svc/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeRelay } from '../../../sdk-core/test/support/relay-descriptors.ts'
import { type Answer, RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { type ExposeOptions, type Exposure, expose } from '../../src/index.ts'

let asked: RelayDouble
let others: RelayDouble[]
let exposure: Exposure | undefined
beforeEach(async () => {
  asked = await RelayDouble.start()
  others = await Promise.all([RelayDouble.start(), RelayDouble.start()])
  for (const relay of others) relay.overrides['/sdk/domain'] = domain('10')
})
afterEach(async () => {
  await exposure?.close()
  exposure = undefined
  await Promise.all([asked, ...others].map((relay) => relay.crash()))
})

const domain = (protocol_version: string) => (): Answer => [
  200,
  { ok: true, data: { protocol_version, release_version: '0.1.0' } },
]

/** Makes `asked` answer `GET /discovery` with these relays. */
function knows(relays: unknown[], fields: object = {}): void {
  const data = {
    protocol_version: '10',
    generated_at: new Date().toISOString(),
    relays,
    incompatible_relays: [],
    release_version: '0.1.0',
    relay_release_versions: {},
    ...fields,
  }
  asked.overrides['/discovery'] = () => [200, { ok: true, data }]
}

function start(options: Partial<ExposeOptions> = {}): Promise<Exposure> {
  return expose({
    relay: asked.url,
    ca: CERTIFICATE_PEM,
    name: 'demo',
    identity: Uint8Array.from(randomBytes(32)),
    carrier: 'websocket',
    fetch: () => new Response('hello'),
    discover: 2,
    ...options,
  })
}

const portsOf = ({ sites }: Exposure): number[] => sites.map(({ url }) => Number(new URL(url).port))

it('takes those that a relay knows', async () => {
  knows(others.map(({ url }) => describeRelay(url)))
  exposure = await start()
  expect(exposure.failures).toEqual([])
  expect(portsOf(exposure)[0]).toBe(asked.port)
  expect(new Set(portsOf(exposure))).toEqual(new Set([asked, ...others].map(({ port }) => port)))
})

it('reads discovery, and never announces itself (protocol §14.1.4)', async () => {
  knows(others.map(({ url }) => describeRelay(url)))
  exposure = await start()
  await exposure.close()
  const asksDiscovery = [asked, ...others].map(({ calls }) =>
    calls.filter((path) => path.startsWith('/discovery')),
  )
  expect(asksDiscovery).toEqual([['/discovery'], [], []])
})

it('asks nobody when it was not asked for', async () => {
  exposure = await start({ discover: 0 })
  expect(asked.count('/discovery')).toBe(0)
})

it('takes no more than so many, and none twice', async () => {
  knows([others[0]!, others[0]!, asked, others[1]!].map(({ url }) => describeRelay(url)))
  exposure = await start({ discover: 1 })
  expect(portsOf(exposure)).toHaveLength(2)
  await exposure.close()
  exposure = await start({ discover: 8 })
  expect(portsOf(exposure)).toHaveLength(3)
})

it.each<[string, (url: string) => unknown]>([
  ['whose signature is of another text', (url) => ({ ...describeRelay(url), tcp_bps: 1 })],
  ['whose signature is of another key', (url) => describeRelay(url, { address: `0x${'1'.repeat(40)}` })],
  ['that has no signature', (url) => ({ ...describeRelay(url), signature: '' })],
  [
    'that has expired',
    (url) => describeRelay(url, { expires_at: new Date(Date.now() - 2_000).toISOString() }),
  ],
  ['without TLS', (url) => describeRelay(url.replace('https:', 'http:'))],
  ['with an invalid time', (url) => ({ ...describeRelay(url), issued_at: 'yesterday' })],
  ['that is no object', (url) => url],
])('passes a descriptor over %s', async (_, make) => {
  knows([make(others[0]!.url), null, describeRelay(others[1]!.url)])
  exposure = await start()
  expect(portsOf(exposure)).toEqual([asked.port, others[1]!.port])
  expect(others[0]!.calls).toEqual([])
})

it('goes by the clock of the relay that it asked: that of this machine may be wrong', async () => {
  const now = Date.now() - 86_400_000
  const describeThen = ({ url }: RelayDouble, ms: number): RelayDescriptor =>
    describeRelay(url, { expires_at: new Date(now + ms).toISOString() })
  const relays = [describeThen(others[0]!, 60_000), describeThen(others[1]!, -60_000)]
  const data = { protocol_version: '10', relays }
  asked.overrides['/discovery'] = () => [200, { ok: true, data }, { Date: new Date(now).toUTCString() }]
  exposure = await start()
  expect(portsOf(exposure)).toEqual([asked.port, others[0]!.port])
})

it.each(['tcp', 'udp'] as const)('passes over what gives no %s ports when one is wanted', async (kind) => {
  knows(others.map(({ url }, at) => describeRelay(url, { [`supports_${kind}`]: at === 1 })))
  // it has nothing but HTTP itself
  await start({ [kind]: 80 }).catch(() => {})
  expect(others[0]!.calls).toEqual([])
  expect(others[1]!.calls).toContain('/sdk/domain')
})

it('passes over one that does not answer, or speaks another revision', async () => {
  const [older, gone] = others as [RelayDouble, RelayDouble]
  knows(others.map(({ url }) => describeRelay(url)))
  older.overrides['/sdk/domain'] = domain('9')
  await gone.crash()
  others = [older]
  exposure = await start()
  expect(portsOf(exposure)).toEqual([asked.port])
})

it.each([
  [
    'has no discovery',
    () => [503, { ok: false, error: { code: 'feature_unavailable', message: 'off' } }] as const,
    'feature_unavailable',
  ],
  [
    'gives no list',
    () => [200, { ok: true, data: { protocol_version: '10', relays: {} } }] as const,
    'unexpected_answer',
  ],
  [
    'speaks another revision',
    () => [200, { ok: true, data: { protocol_version: '11', relays: [] } }] as const,
    'unexpected_answer',
  ],
])('does without when the relay %s, and says so', async (_, answer, code) => {
  asked.overrides['/discovery'] = () => [...answer()]
  exposure = await start()
  expect(portsOf(exposure)).toEqual([asked.port])
  expect(exposure.failures).toEqual([{ relay: asked.url, error: expect.objectContaining({ code }) }])
})

it('keeps a named relay while it is away, and replaces a discovered one by the next', async () => {
  knows(others.map(({ url }) => describeRelay(url)))
  exposure = await start({ discover: 1 })
  const taken = others.find(({ port }) => port === portsOf(exposure!)[1])!
  const spare = others.find((relay) => relay !== taken)!
  const [kept] = exposure.sites
  await taken.crash()
  others = [spare]
  await expect.poll(() => portsOf(exposure!)).toEqual([asked.port, spare.port])

  await asked.crash()
  await expect.poll(() => kept!.state).toBe('reconnecting')
  expect(exposure.sites.map(({ state }) => state)).toEqual(['reconnecting', 'online'])
  await asked.listen(asked.port)
  await expect.poll(() => kept!.state).toBe('online')
  expect(exposure.sites[0]).toBe(kept)
})

it('stores files at named relays alone', async () => {
  knows(others.map(({ url }) => describeRelay(url)))
  exposure = await start({ cache: { files: { 'index.html': 'hello' } } })
  expect(exposure.sites.map(({ cache }) => cache !== undefined)).toEqual([true, false, false])
})

it('sends an invitation to named relays alone', async () => {
  knows(others.map(({ url }) => describeRelay(url)))
  const got = new Map<RelayDouble, unknown>()
  for (const relay of [asked, ...others])
    relay.overrides['/sdk/register/challenge'] = (body) => {
      got.set(relay, body.invitation)
      return undefined as never // It answers as usual.
    }
  exposure = await start({ invitation: 'svc-invitation-secret' })
  expect([asked, ...others].map((relay) => got.get(relay))).toEqual([
    'svc-invitation-secret',
    undefined,
    undefined,
  ])
  expect(got.size).toBe(3)
})

it.each([-1, 1.5, 9, Number.NaN])('discover: %s is none', async (discover) => {
  await expect(start({ discover })).rejects.toMatchObject({ code: 'invalid_option' })
})
