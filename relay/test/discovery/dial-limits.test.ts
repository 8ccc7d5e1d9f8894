// Names of strangers lead this relay to one host: it dials it a bounded number of times, and others all the while.
// Real servers over HTTPS; addresses of the loopback interface but 127.0.0.1 stand for public ones.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test as every, expect, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLog } from '../../src/core/log/log.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { DialLimits } from '../../src/features/discovery/dial-limits.ts'
import { type Discovery, startDiscovery } from '../../src/features/discovery/start-discovery.ts'
import { type InventedRelay, inventRelay } from '../support/descriptors.ts'
import { PRIVATE, type RelayHosts, startRelayHosts } from '../support/relay-hosts.ts'

const test = wholeOnly(every, 'depth')

const POLL_MS = 200
const DIALS = { perMinute: 4, burst: 8 }
const patient = { timeout: 60_000, interval: 20 }
/** Of another network than the other hosts. */
const ELSEWHERE = '127.0.3.1'

vi.mock('@svc/protocol', async (original) => ({
  ...(await original<object>()),
  isPublicAddress: (address: string) => address.startsWith('127.0.') && address !== '127.0.0.1',
}))

let hosts: RelayHosts
let discovery: Discovery
let directory: string
let listed: unknown[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-dials-'))
  hosts = await startRelayHosts()
  listed = []
  hosts.addresses.set('boot', PRIVATE)
  hosts.relay('boot', () => listed)
  const log = createLog('silent')
  discovery = await startDiscovery({
    settings: {
      isEnabled: true,
      bootstraps: [hosts.originOf('boot')],
      allowsLoopback: false,
      limits: { pollMs: POLL_MS, dialsPerNetwork: DIALS },
    },
    origin: hosts.originOf('own'),
    identity: inventRelay(),
    directory,
    ownState: () => ({ udp: false, tcp: true, connections: 0, bytes: 0 }),
    policy: { isRelayBanned: () => false, onChange: () => {} },
    health: new WriteHealth(log),
    log,
    ca: hosts.ca,
    lookup: hosts.lookup,
  })
  discovery.start()
})
afterEach(async () => {
  await discovery.close()
  hosts.close()
  await rm(directory, { recursive: true })
})

const knows = ({ address }: InventedRelay) =>
  vi.waitFor(async () => {
    const { relays } = (await discovery.prepare())(true)
    expect(relays.map((relay) => relay.address)).toContain(address)
  }, patient)
const busy = (): number => discovery.readings().refusals.busy!
const requestsOf = (name: RegExp): number => hosts.asked.filter((line) => name.test(line)).length

function list(name: string): InventedRelay {
  const relay = hosts.relay(name)
  listed.push(relay.describe(hosts.originOf(name)))
  return relay
}

test('many names of one host cost it few connections, and hold up no other host', async () => {
  for (let index = 0; index < 16; index++) list(`name${index}`)
  await vi.waitFor(() => expect(busy()).toBeGreaterThan(8), patient)
  hosts.addresses.set('other', ELSEWHERE)
  await knows(list('other'))
  expect(requestsOf(/^name\d+ \/sdk\/domain/)).toBeLessThanOrEqual(DIALS.burst)
})

test('relays whose names lead to another host later are asked there a bounded number of times', async () => {
  const relays = Array.from({ length: 3 }, (_, index) => list(`mover${index}`))
  for (const relay of relays) await knows(relay)
  // Where they were found they are asked again and again.
  const before = requestsOf(/^mover/)
  await vi.waitFor(() => expect(requestsOf(/^mover/)).toBeGreaterThan(before + 2 * DIALS.burst), patient)
  let dials = 0
  for (const [index] of relays.entries()) {
    hosts.addresses.set(`mover${index}`, ELSEWHERE)
    hosts.answer(`mover${index}`, (_request, response) => {
      dials += 1
      response.writeHead(500).end()
    })
  }
  await vi.waitFor(() => expect(busy()).toBeGreaterThan(2), patient)
  expect(dials).toBeLessThanOrEqual(2 * DIALS.burst)
})

test('a network is dialled a number of times at once, and another one in a minute, beside others', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const dials = new DialLimits(DIALS)
  const count = (network: string): number => {
    let taken = 0
    while (dials.take(network)) taken += 1
    return taken
  }
  expect([count('192.0.2.0/24'), count('198.51.100.0/24')]).toEqual([8, 8])
  vi.advanceTimersByTime(60_000)
  expect(count('192.0.2.0/24')).toBe(4)
  vi.useRealTimers()
})
