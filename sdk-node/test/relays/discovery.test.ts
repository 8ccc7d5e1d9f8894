// Relays that other relays know (wire, "Discovery"): which of them are taken, and which are not.

import { createHash, randomBytes } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { descriptorText, type RelayDescriptor } from '@svc/protocol'
import { type FetchFunction, identityFromKey } from '@svc/sdk-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { type Answer, RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { type ExposeOptions, type Exposure, expose } from '../../src/index.ts'
import { DESCRIPTORS_MAX, DISCOVERED_PROBES_MAX } from '../../src/limits.ts'
import { discover } from '../../src/relays/discovery.ts'

const KEY = new Uint8Array(32).fill(7)

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

function describeRelay(url: string, fields: Partial<RelayDescriptor> = {}): RelayDescriptor {
  const descriptor: RelayDescriptor = {
    address: identityFromKey(KEY).address,
    version: '0.1.0',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    api_https_addr: url,
    wireguard_public_key: '',
    wireguard_port: 0,
    supports_overlay: false,
    supports_udp: true,
    supports_tcp: true,
    active_connections: 0,
    tcp_bps: 0,
    signature: '',
    ...fields,
  }
  const hash = createHash('sha256').update(descriptorText(descriptor)).digest()
  const [recovery, ...rs] = secp256k1.sign(hash, KEY, { prehash: false, format: 'recovered' })
  return { ...descriptor, signature: Buffer.from([...rs, 27 + recovery!]).toString('base64') }
}

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

it('asks nobody when it was not asked for', async () => {
  exposure = await start({ discover: 0 })
  expect(asked.count('/discovery')).toBe(0)
})

it('takes no more than so many, and none twice', async () => {
  knows([others[0]!, others[0]!, asked, others[1]!].map(({ url }) => describeRelay(url)))
  exposure = await start({ discover: 1 })
  expect(portsOf(exposure)).toHaveLength(2)
  await exposure.close()
  exposure = await start({ discover: 9 })
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
  ['with a time that is none', (url) => ({ ...describeRelay(url), issued_at: 'yesterday' })],
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

describe('a relay elsewhere', () => {
  const wanted = { tcp: false, udp: false }
  let calls: Set<string>
  /** Every host is a relay that knows these. */
  const network = (hosts: readonly string[]): ((url: string) => Promise<Response>) => {
    const relays = hosts.map((host) => describeRelay(`https://${host}`))
    return async (url) => {
      calls.add(new URL(url).host)
      const data = url.endsWith('/discovery') ? { relays } : { release_version: '0.1.0' }
      return Response.json({ ok: true, data: { protocol_version: '10', ...data } })
    }
  }
  beforeEach(() => {
    calls = new Set()
  })

  it('does not send us to our own network', async () => {
    const ipv6 = ['[::1]', '[fd00::1]', '[::ffff:10.0.0.1]', '[64:ff9b::a00:1]', '[2002:a00:1::1]']
    const ipv4 = ['127.0.0.1', '10.1.2.3', '192.168.1.1', '192.0.2.1', '224.0.0.1']
    const hosts = [...ipv4, ...ipv6, 'a.localhost', 'good.example']
    const { found } = await discover([new URL('https://relay.example')], 99, wanted, network(hosts))
    expect(found.map(({ host }) => host)).toEqual(['good.example'])
    expect(calls).toEqual(new Set(['relay.example', 'good.example']))
  })

  it('is not waited for when it is slow', async () => {
    const quick = network(['slow.example', 'quick.example'])
    const answer: FetchFunction = (url, init) =>
      url.includes('slow')
        ? new Promise((_, reject) => init.signal!.addEventListener('abort', () => reject(new Error('late'))))
        : quick(url)
    const { found } = await discover([new URL('https://relay.example')], 9, wanted, answer)
    expect(found.map(({ host }) => host)).toEqual(['quick.example'])
  })

  it('makes us look at no more than so many, however many it names', async () => {
    const hosts = Array.from({ length: DISCOVERED_PROBES_MAX + 1 }, (_, at) => `r${at}.example`)
    const { found } = await discover([new URL('https://relay.example')], 99, wanted, network(hosts))
    expect(found).toHaveLength(DISCOVERED_PROBES_MAX)
    expect(calls.size).toBe(1 + DISCOVERED_PROBES_MAX)
  })

  it('makes us check no more than so many signatures', async () => {
    const forgery = { ...describeRelay('https://a.example'), tcp_bps: 1 }
    const forged = Array.from({ length: DESCRIPTORS_MAX }, () => forgery)
    const relays = [
      ...forged.slice(1),
      describeRelay('https://last.example'),
      describeRelay('https://over.example'),
    ]
    const answer: FetchFunction = async () =>
      Response.json({ ok: true, data: { protocol_version: '10', release_version: '0.1.0', relays } })
    const { found } = await discover([new URL('https://relay.example')], 9, wanted, answer)
    expect(found.map(({ host }) => host)).toEqual(['last.example'])
  })
})

it.each([-1, 1.5, Number.NaN])('discover: %s is none', async (discover) => {
  await expect(start({ discover })).rejects.toMatchObject({ code: 'invalid_option' })
})
