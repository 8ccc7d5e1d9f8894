// Five relays with names, and certificates of their own authorities, in a chain of bootstrap relays: real relays over real HTTPS.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiscoveryResponse } from '@svc/protocol'
import { verifyDescriptor } from '@svc/protocol'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import { signerOf } from '../../../sdk-core/src/identity/key.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { HttpClient } from '../../src/core/outbound/http-client.ts'
import { trust } from '../support/local-names.ts'
import { freePort, relayClient, startTestRelay, type TestRelay } from '../support/relay.ts'

const test = wholeOnly(every, 'clock')

const POLL_MS = 4_000
/** The rounds of questions are counted here. */
const limits = { discovery: { pollMs: POLL_MS, earlyMs: 0 } }
const PATIENT_MS = 120_000

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

interface Member {
  host: string
  port: number
  directory: string
  ca: string
  bootstraps: string
  relay: TestRelay | undefined
}

const originOf = ({ host, port }: Member): string => `https://${host}:${port}`
let members: Member[]
let distrust: () => void

beforeAll(async () => {
  members = []
  for (const number of [1, 2, 3, 4, 5]) {
    const before = members.at(-1)
    members.push({
      host: `r${number}.localhost`,
      port: await freePort(),
      directory: await mkdtemp(join(tmpdir(), 'svc-discovery-')),
      ca: '',
      bootstraps: before === undefined ? '' : originOf(before),
      relay: undefined,
    })
  }
  for (const member of members) {
    // The first start makes the authority.
    await start(member, { DISCOVERY: 'false' })
    await stop(member)
    member.ca = await readFile(join(member.directory, 'ca.pem'), 'utf8')
  }
  distrust = trust(members.map(({ ca }) => ca))
})

afterAll(async () => {
  distrust?.()
  for (const member of members) {
    await stop(member)
    await rm(member.directory, { recursive: true })
  }
})

async function start(member: Member, env: Record<string, string> = {}): Promise<void> {
  const settings = {
    SVC_URL: originOf(member),
    SNI_PORT: `${member.port}`,
    DISCOVERY: 'true',
    DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
    BOOTSTRAPS: member.bootstraps,
    ...env,
  }
  member.relay = await startTestRelay(settings, { directory: member.directory, limits })
}

async function stop(member: Member): Promise<void> {
  await member.relay?.stop()
  member.relay = undefined
}

async function listOf({ port, ca, host }: Member, query = ''): Promise<DiscoveryResponse> {
  const { json } = await relayClient(port, ca, host).call('GET', `/discovery${query}`)
  return json.data as unknown as DiscoveryResponse
}

/** Resolves when each of `those` passes on all of `those`, and nobody else. */
async function converged(those: readonly Member[]): Promise<void> {
  const all = those.map(originOf).sort()
  const known = async (member: Member) =>
    (await listOf(member)).relays.map(({ api_https_addr }) => api_https_addr).sort()
  await vi.waitFor(async () => expect(await Promise.all(those.map(known))).toEqual(those.map(() => all)), {
    timeout: PATIENT_MS,
    interval: 100,
  })
}

test('know each other within two rounds of polls', async () => {
  const asked = vi.spyOn(HttpClient.prototype, 'request')
  for (const member of members) await start(member)
  await converged(members)
  const counts = new Map<unknown, Map<string, number>>()
  for (const [at, [url]] of asked.mock.calls.entries()) {
    const of = counts.get(asked.mock.contexts[at]) ?? new Map<string, number>()
    counts.set(asked.mock.contexts[at], of.set(`${url}`, (of.get(`${url}`) ?? 0) + 1))
  }
  asked.mockRestore()
  // One look at a relay that is new, a poll at the start, and those of two rounds.
  expect(counts.size).toBe(5)
  const most = Math.max(
    ...[...counts.values()].flatMap((of) =>
      [...of].flatMap(([url, n]) => (/discovery(\?|$)/.test(url) ? [n] : [])),
    ),
  )
  expect(most).toBeLessThanOrEqual(4)
})

test('pass on descriptors that others can verify, with their releases', async () => {
  const [first] = members
  const { relays, release_version, relay_release_versions, protocol_version } = await listOf(first!)
  expect(protocol_version).toBe('9')
  expect(relays[0]!.api_https_addr).toBe(originOf(first!))
  for (const relay of relays)
    expect(await verifyDescriptor(relay, Date.now(), signerOf)).toEqual({ descriptor: relay })
  expect(relay_release_versions).toEqual(
    Object.fromEntries(members.slice(1).map((member) => [originOf(member), release_version])),
  )
  const alone = await listOf(first!, '?relays=own')
  expect(alone.relays.map(({ address }) => address)).toEqual([relays[0]!.address])
})

test('forget one that is killed, and know it again when it comes back', async () => {
  const killed = members[2]!
  await stop(killed)
  await converged(members.filter((member) => member !== killed))
  await start(killed)
  await converged(members)
})

test('know the others after a restart without any bootstrap relay', async () => {
  const last = members[4]!
  await stop(last)
  await start(last, { BOOTSTRAPS: '' })
  await converged(members)
  await expect.poll(async () => (await listOf(last)).relays.length, { timeout: POLL_MS * 10 }).toBe(5)
})
