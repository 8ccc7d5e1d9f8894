// Discovery meets relays that lie, stall, flood or are not there. Real servers over HTTPS; 127.0.0.2 stands for a
// public address.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiscoveryResponse, RelayDescriptor } from '@svc/protocol'
import { afterEach, beforeEach, describe, test as every, expect, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { checksumAddress } from '../../src/core/auth/ethereum-address.ts'
import { createLog } from '../../src/core/log/log.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import type { Refusal } from '../../src/features/discovery/refusals.ts'
import { type Discovery, startDiscovery } from '../../src/features/discovery/start-discovery.ts'
import { type InventedRelay, inventRelay } from '../support/descriptors.ts'
import { PRIVATE, type RelayHosts, startRelayHosts } from '../support/relay-hosts.ts'

const test = wholeOnly(every, 'faults')

const POLL_MS = 400
const LIMITS = {
  pollMs: POLL_MS,
  queryMs: 1_000,
  // Whole crowds would take this test a minute of signatures.
  candidatesMax: 64,
  // All relays of this test have one address.
  dialsPerNetwork: { perMinute: 1_000_000, burst: 1_000_000 },
}
const PATIENT_MS = 120_000
const patient = { timeout: PATIENT_MS, interval: 20 }

vi.mock('@svc/protocol', async (original) => ({
  ...(await original<object>()),
  isPublicAddress: (address: string) => address === '127.0.0.2' || address.startsWith('198.'),
}))

let hosts: RelayHosts
let discovery: Discovery
let directory: string
let own: InventedRelay
/** The relays that the bootstrap relay lists beside itself. */
let listed: unknown[]
let banned: Set<string>
let onPolicyChange: () => void

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-hostile-'))
  hosts = await startRelayHosts()
  own = inventRelay()
  listed = []
  banned = new Set()
  hosts.relay('boot', () => listed)
  discovery = await start()
})
afterEach(async () => {
  await discovery.close()
  hosts.close()
  await rm(directory, { recursive: true })
})

async function start(): Promise<Discovery> {
  const log = createLog('silent')
  const started = await startDiscovery({
    settings: {
      isEnabled: true,
      bootstraps: [hosts.originOf('boot')],
      allowsLoopback: false,
      limits: LIMITS,
    },
    origin: hosts.originOf('own'),
    identity: own,
    directory,
    ownState: () => ({ udp: false, tcp: true, connections: 0, bytes: 0 }),
    policy: {
      isRelayBanned: (address, origin) => banned.has(address) || banned.has(origin),
      onChange: (listener) => {
        onPolicyChange = listener
      },
    },
    health: new WriteHealth(log),
    log,
    ca: hosts.ca,
    lookup: hosts.lookup,
  })
  started.start()
  return started
}

const answer = async (): Promise<DiscoveryResponse> => (await discovery.prepare())(true)
const known = async (): Promise<string[]> => (await answer()).relays.map(({ address }) => address)
const refused = (reason: Refusal): number => discovery.readings().refusals[reason]!
const knows = ({ address }: InventedRelay) =>
  vi.waitFor(async () => expect(await known()).toContain(address), patient)
const refuses = (reason: Refusal) => vi.waitFor(() => expect(refused(reason)).toBeGreaterThan(0), patient)
const announce = (descriptor: RelayDescriptor, source = '198.51.100.1') =>
  discovery.announce({ protocol_version: '9', descriptor }, source)

/** Lists `bad` before a good relay, and waits until both are judged. */
async function judged(bad: unknown, reason: Refusal): Promise<InventedRelay> {
  const good = hosts.relay('good')
  listed = [bad, good.describe(hosts.originOf('good'))]
  await refuses(reason)
  await knows(good)
  return good
}

const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString()

describe('a descriptor in a list', () => {
  const mallory = inventRelay()
  const anywhere = 'https://198.51.100.7'
  const cases: [string, Refusal, () => unknown][] = [
    ['that is no object', 'malformed', () => 'relay'],
    ['that is null', 'malformed', () => null],
    [
      'with an address that is no text, and cannot become one',
      'malformed',
      () => ({ ...mallory.describe(anywhere), address: { toString: 1, valueOf: 1 } }),
    ],
    [
      'with fewer than no connections',
      'malformed',
      () => mallory.describe(anywhere, { active_connections: -1 }),
    ],
    ['with less than no traffic', 'malformed', () => mallory.describe(anywhere, { tcp_bps: -1 })],
    ['of a name with a dot at its end', 'malformed', () => mallory.describe('https://relay.example.')],
    ['without TLS', 'malformed', () => mallory.describe('http://198.51.100.7')],
    ['of an address with a path', 'malformed', () => mallory.describe(`${anywhere}/api`)],
    [
      'with a text of 97 characters',
      'malformed',
      () => mallory.describe(anywhere, { version: 'x'.repeat(97) }),
    ],
    ['with a control character', 'malformed', () => mallory.describe(anywhere, { version: '\u0001' })],
    ['with a host beyond ASCII', 'malformed', () => mallory.describe('https://bücher.example')],
    ['with a URL of 257 characters', 'malformed', () => mallory.describe(`https://${'x'.repeat(249)}`)],
    ['that somebody changed', 'forged', () => ({ ...mallory.describe(anywhere), tcp_bps: 1 })],
    [
      'of another address',
      'forged',
      () => ({ ...mallory.describe(anywhere), address: inventRelay().address }),
    ],
    [
      'that has expired',
      'expired',
      () => mallory.describe(anywhere, { issued_at: minutes(-9), expires_at: minutes(-1) }),
    ],
    [
      'of the future',
      'future',
      () => mallory.describe(anywhere, { issued_at: minutes(3), expires_at: minutes(9) }),
    ],
    [
      'that is valid for 11 minutes',
      'too_long',
      () => mallory.describe(anywhere, { expires_at: minutes(11) }),
    ],
    [
      'that ends before it begins',
      'too_long',
      () => mallory.describe(anywhere, { issued_at: minutes(1.9), expires_at: minutes(1) }),
    ],
    ['of localhost', 'not_public', () => mallory.describe('https://localhost')],
    ['of a name below localhost', 'not_public', () => mallory.describe('https://relay.localhost.')],
    ['of a loopback address', 'not_public', () => mallory.describe('https://127.0.0.1')],
    ['of a private address', 'not_public', () => mallory.describe('https://[fd00::1]')],
  ]
  test.each(cases)(
    '%s is %s, and nobody is asked (protocol §14.3.1, §14.3.2, §14.3.3, §14.3.4)',
    async (_what, reason, make) => {
      await judged(make(), reason)
      expect(await known()).not.toContain(mallory.address)
      expect(hosts.asked.every((line) => /^(boot|good) /.test(line))).toBe(true)
    },
  )

  test('of a name with a private address is not dialled (protocol §14.3.4)', async () => {
    hosts.addresses.set('private', PRIVATE)
    const relay = hosts.relay('private')
    await judged(relay.describe(hosts.originOf('private')), 'not_public')
    expect(hosts.asked.filter((line) => line.startsWith('private '))).toEqual([])
    expect(await known()).not.toContain(relay.address)
  })

  test("of somebody else's origin brings only the relay that is there", async () => {
    const owner = hosts.relay('owner')
    await judged(mallory.describe(hosts.originOf('owner')), 'other_address')
    expect(await known()).toContain(owner.address)
    expect(await known()).not.toContain(mallory.address)
    // Now the origin is known to be that of its owner.
    const asked = hosts.asked.length
    await expect(announce(mallory.describe(hosts.originOf('owner')))).rejects.toMatchObject({
      code: 'unauthorized',
    })
    expect(hosts.asked.slice(asked).filter((line) => line === 'owner /sdk/domain')).toEqual([])
  })
})

describe('an origin', () => {
  const MiB = 1024 * 1024
  test.each<[string, Refusal, (hosts: RelayHosts) => void]>([
    [
      'that redirects',
      'redirected',
      (all) => all.answer('bad', (_, r) => r.writeHead(302, { Location: all.originOf('good') }).end()),
    ],
    [
      'that answers with 10 MiB',
      'too_large',
      (all) => all.answer('bad', (_, r) => r.end('x'.repeat(10 * MiB))),
    ],
    ['that never answers', 'timeout', (all) => all.answer('bad', () => {})],
    [
      'that answers byte by byte',
      'timeout',
      (all) =>
        all.answer('bad', (_, r) => {
          const drip = setInterval(() => r.write(' '), 50)
          r.on('close', () => clearInterval(drip))
        }),
    ],
    ['that closes the connection', 'unreachable', (all) => all.answer('bad', (_, r) => r.destroy())],
    ['that is no relay', 'bad_answer', () => {}],
    ['that answers with another text', 'bad_answer', (all) => all.answer('bad', (_, r) => r.end('<html>'))],
    ['that answers with null', 'bad_answer', (all) => all.answer('bad', (_, r) => r.end('null'))],
    ['that does not list itself', 'bad_answer', (all) => void all.relay('bad', undefined, { relays: [] })],
    ['that has no list', 'bad_answer', (all) => void all.relay('bad', undefined, { relays: {} })],
    [
      'that speaks another version',
      'incompatible',
      (all) => void all.relay('bad', undefined, { protocol_version: '8' }),
    ],
  ])('%s is %s, and holds up nobody (protocol §14.3.6)', async (_what, reason, behave) => {
    behave(hosts)
    const relay = inventRelay()
    await judged(relay.describe(hosts.originOf('bad')), reason)
    expect(await known()).not.toContain(relay.address)
    const { incompatible_relays } = await answer()
    expect(incompatible_relays).toEqual(
      reason === 'incompatible'
        ? [{ url: hosts.originOf('bad'), protocol_version: '8', last_seen_at: expect.any(String) }]
        : [],
    )
  })

  test('without a certificate of its name is not asked', async () => {
    const relay = inventRelay()
    const other = hosts.originOf('x').replace('relay.test', 'other.test')
    await judged(relay.describe(other), 'unreachable')
    expect(hosts.asked.filter((line) => !/^(boot|good) /.test(line))).toEqual([])
  })

  test('that failed is looked at once in an interval, however often it is named', async () => {
    const relay = inventRelay()
    const begunAt = performance.now()
    for (let i = 0; i < 60; i++) await announce(relay.describe(hosts.originOf('bad')))
    await refuses('bad_answer')
    const intervals = Math.ceil((performance.now() - begunAt) / POLL_MS)
    expect(hosts.asked.filter((line) => line === 'bad /sdk/domain').length).toBeLessThanOrEqual(intervals)
  })
})

describe('a known relay', () => {
  test('that shows an older descriptor is refused, and is passed on no more', async () => {
    const relay = inventRelay()
    const origin = hosts.originOf('back')
    let issued_at = minutes(0)
    hosts.answer('back', (_, response) => {
      const data = { protocol_version: '10', relays: [relay.describe(origin, { issued_at })] }
      response.end(JSON.stringify({ ok: true, data }))
    })
    listed = [relay.describe(origin)]
    await knows(relay)
    issued_at = minutes(-1)
    await refuses('rolled_back')
    await expect(announce(relay.describe(origin, { issued_at }))).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await vi.waitFor(async () => expect(await known()).not.toContain(relay.address), patient)
  })

  test('whose origin shows another address keeps it until its descriptor has been expired for a day (protocol §14.3.5)', async () => {
    const first = hosts.relay('moved')
    listed = [first.describe(hosts.originOf('moved'))]
    await knows(first)
    const second = hosts.relay('moved')
    await refuses('other_address')
    await vi.waitFor(async () => expect(await known()).not.toContain(first.address), patient)
    expect(await known()).not.toContain(second.address)
  })

  test('that is banned is dropped at once and refused, by its address or its origin (protocol §21.1.7)', async () => {
    const [one, two] = [hosts.relay('one'), hosts.relay('two')]
    listed = [one.describe(hosts.originOf('one')), two.describe(hosts.originOf('two'))]
    await knows(one)
    await knows(two)
    banned = new Set([one.address, hosts.originOf('two')])
    onPolicyChange()
    expect(await known()).not.toContain(one.address)
    expect(await known()).not.toContain(two.address)
    for (const descriptor of listed as RelayDescriptor[])
      await expect(announce(descriptor)).rejects.toMatchObject({ code: 'unauthorized' })
    await vi.waitFor(() => expect(refused('banned')).toBeGreaterThan(3), patient)
    expect(await known()).toEqual([checksumAddress(own.address), expect.any(String)])
  })
})

test('a ban ends the questions to a bootstrap relay and to one that waits, and hides one of another version', async () => {
  const other = inventRelay()
  hosts.relay('old', undefined, { protocol_version: '8' })
  listed = [other.describe(hosts.originOf('old'))]
  await refuses('incompatible')
  expect((await answer()).incompatible_relays).toHaveLength(1)
  // Both turns of one network are taken, so that the third relay waits.
  for (const name of ['slow1', 'slow2']) hosts.answer(name, () => {})
  for (const name of ['slow1', 'slow2', 'next']) await announce(inventRelay().describe(hosts.originOf(name)))
  banned = new Set(['old', 'boot', 'next'].map((name) => hosts.originOf(name)))
  onPolicyChange()
  expect((await answer()).incompatible_relays).toEqual([])
  await vi.waitFor(() => expect(discovery.readings().waiting).toBe(0), patient)
  const asked = hosts.asked.filter((line) => line.startsWith('boot ')).length
  await new Promise((resolve) => setTimeout(resolve, 3 * POLL_MS))
  // One question may have been on its way.
  expect(hosts.asked.filter((line) => line.startsWith('boot ')).length).toBeLessThanOrEqual(asked + 1)
  expect(hosts.asked.filter((line) => line.startsWith('next '))).toEqual([])
})

test('an origin that a stranger claims behind slow ones of its own is looked at when its relay announces itself', async () => {
  const victim = hosts.relay('victim')
  for (let index = 0; index < 20; index++) {
    hosts.answer(`slow${index}`, () => {})
    await announce(inventRelay().describe(hosts.originOf(`slow${index}`)))
  }
  await announce(inventRelay().describe(hosts.originOf('victim')))
  await announce(victim.describe(hosts.originOf('victim')), '203.0.113.1')
  await knows(victim)
  expect(discovery.readings().waiting).toBeGreaterThan(5)
})

describe('an announcement', () => {
  test('of a relay that answers is accepted, and brings it', async () => {
    const relay = hosts.relay('new')
    expect(await announce(relay.describe(hosts.originOf('new')))).toEqual({
      protocol_version: '9',
      accepted: true,
    })
    await knows(relay)
    expect((await answer()).relay_release_versions[hosts.originOf('new')]).toBe('1.2.3')
  })

  test('of another protocol version is not accepted, and says ours', async () => {
    const descriptor = inventRelay().describe(hosts.originOf('new'))
    expect(await discovery.announce({ protocol_version: '8', descriptor }, '198.51.100.1')).toEqual({
      protocol_version: '9',
      accepted: false,
    })
    expect(refused('incompatible')).toBe(1)
  })

  test.each<[string, string, () => unknown]>([
    ['of this relay itself', 'invalid_request', () => own.describe(hosts.originOf('elsewhere'))],
    ['of its origin', 'invalid_request', () => inventRelay().describe(hosts.originOf('own'))],
    ['of a loopback address', 'invalid_request', () => inventRelay().describe('https://localhost:4017')],
    ['without a descriptor', 'invalid_request', () => undefined],
    [
      'that is forged',
      'unauthorized',
      () => ({ ...inventRelay().describe(hosts.originOf('x')), tcp_bps: 9 }),
    ],
  ])('%s is refused', async (_what, code, make) => {
    await expect(announce(make() as RelayDescriptor)).rejects.toMatchObject({ code })
  })

  test('flood of slow relays from one network holds up no relay of another', async () => {
    const good = hosts.relay('good')
    const slow = Array.from({ length: 100 }, (_, index) => hosts.originOf(`slow${index}`))
    for (const [index] of slow.entries()) hosts.answer(`slow${index}`, () => {})
    const accepted: boolean[] = []
    for (const origin of slow) accepted.push((await announce(inventRelay().describe(origin))).accepted)
    expect(accepted.slice(0, 64)).not.toContain(false)
    expect(accepted).toContain(false)
    expect(refused('busy')).toBeGreaterThan(0)
    expect(discovery.readings().waiting).toBeLessThanOrEqual(64)
    expect(await announce(good.describe(hosts.originOf('good')), '203.0.113.1')).toMatchObject({
      accepted: true,
    })
    await knows(good)
    expect(discovery.readings().waiting).toBeGreaterThan(30)
  })
})

test('a crowd of invented relays in a list displaces no relay that answers', async () => {
  const good = hosts.relay('good')
  listed = [good.describe(hosts.originOf('good'))]
  await knows(good)
  const crowd = Array.from({ length: 500 }, (_, index) => ({
    ...good.describe(hosts.originOf(`invented${index}`)),
    address: `0x${index.toString(16).padStart(40, '0')}`,
  }))
  hosts.relay('liar', () => crowd)
  listed.push(inventRelay().describe(hosts.originOf('liar')))
  await refuses('forged')
  await vi.waitFor(() => expect(refused('busy')).toBeGreaterThan(0), patient)
  expect(await known()).toContain(good.address)
  expect(discovery.readings().waiting).toBeLessThanOrEqual(64)
  const next = hosts.relay('next')
  listed.push(next.describe(hosts.originOf('next')))
  await knows(next)
  expect(hosts.asked.filter((line) => line.startsWith('invented'))).toEqual([])
})
