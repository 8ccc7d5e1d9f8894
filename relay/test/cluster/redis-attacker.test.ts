// Somebody who writes Redis without the machines' secret takes no hostname, no certificate and no policy, and is noticed.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { PolicyDecisionsResponse, PolicyStateResponse, RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import {
  forgedLease,
  hostnameIn,
  type LeaseEntry,
  RedisAttacker,
} from '../../../tools/relay/redis-attacker.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { createLog } from '../../src/core/log/log.ts'
import {
  ADMIN,
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { type Answer, newAccount, ROOT_HOST, register, type TestClient } from '../support/relay.ts'

const test = wholeOnly(every, 'faults')

/** All machines have heard of what the attacker told before a change of theirs that came later. */
const SOON = { timeout: WAIT_TIMEOUT_MS }

let cluster: ClusterRelays
let attacker: RedisAttacker
let a: ClusterRelay
let b: ClusterRelay
let marks = 0
const warnings: string[] = []
const log = createLog('warn', { write: (line: string) => void warnings.push(line) })

/** The identity that has each hostname, as a machine lists it. */
async function holdersAt(relay: TestClient): Promise<Record<string, string>> {
  const { data } = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json
  const { leases } = data as unknown as PolicyStateResponse
  return Object.fromEntries(leases.map(({ hostname, identity_key }) => [hostname, identity_key]))
}

const decide = (relay: TestClient, ip: string): Promise<Answer> =>
  relay.call('POST', '/api/policy/ips', { ip, is_banned: true }, ADMIN)
const bannedAt = async (relay: TestClient): Promise<string[]> => {
  const { data } = (await relay.call('GET', '/api/policy/decisions', undefined, ADMIN)).json
  return (data as unknown as PolicyDecisionsResponse).banned_ips
}
const renew = async (relay: TestClient, { access_token }: RegisterResponse): Promise<number> =>
  (await relay.call('POST', '/sdk/renew', { access_token })).status
const reverse = async (relay: TestClient, { access_token }: RegisterResponse): Promise<number> =>
  (await relay.call('POST', '/sdk/reverse', { access_token })).status

/** Resolves when all machines have followed everything that was told before: a lease is known at all of them. */
async function untilFollowed(): Promise<void> {
  marks += 1
  const lease = await a.register(`marker-${marks}`)
  for (const relay of cluster.relays)
    await expect.poll(async () => (await holdersAt(relay))[lease.hostname], SOON).toBeDefined()
}

async function registered(name: string, relay = a): Promise<{ lease: RegisterResponse; entry: LeaseEntry }> {
  let lease: RegisterResponse | undefined
  const entry = await attacker.leaseOf(async () => {
    lease = await relay.register(name)
  })
  return { lease: lease!, entry }
}

describe.skipIf(whyNoRedis() !== undefined)(`two machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    cluster = await startClusterRelays(2, {}, undefined, log)
    ;[a, b] = cluster.relays as [ClusterRelay, ClusterRelay]
    attacker = new RedisAttacker(cluster.redis)
  })
  afterAll(() => cluster?.close())

  test('leave each hostname with its identity, whatever the heads of other leases say', async () => {
    const { lease: victim, entry: theirs } = await registered('victim')
    const { lease: mallory, entry: own } = await registered('mallory', b)
    const { hostname, canonical_hostname } = victim
    for (const forged of [hostname, canonical_hostname, hostnameIn(theirs.head), ROOT_HOST])
      await attacker.put(forgedLease(own, forged))
    await untilFollowed()
    for (const relay of cluster.relays) {
      const holders = await holdersAt(relay)
      expect(holders[hostname]).toMatch(/^victim:/)
      expect(Object.keys(holders)).not.toContain(canonical_hostname)
      expect(Object.keys(holders)).not.toContain(ROOT_HOST)
      expect(holders[mallory.hostname]).toMatch(/^mallory:/)
      expect(await renew(relay, victim)).toBe(200)
      const headers = { 'X-Svc-Access-Token': mallory.access_token }
      const { text } = await relay.call('GET', '/sdk/certificate-chain', undefined, headers)
      expect(new X509Certificate(text).subjectAltName).toBe(
        `DNS:${mallory.hostname}, DNS:${mallory.canonical_hostname}`,
      )
    }
    expect(warnings.join('')).toContain('"entry":"lease","fault":"forged"')
  })

  test('take no entry that is at another key', async () => {
    const { lease: victim, entry: theirs } = await registered('moved')
    const { lease: mallory, entry: own } = await registered('mover', b)
    await attacker.put({ ...own, key: theirs.key })
    await attacker.put({ ...theirs, key: own.key })
    await untilFollowed()
    for (const relay of cluster.relays) {
      const holders = await holdersAt(relay)
      expect([holders[victim.hostname], holders[mallory.hostname]]).toEqual([
        expect.stringMatching(/^moved:/),
        expect.stringMatching(/^mover:/),
      ])
      expect([await renew(relay, victim), await renew(relay, mallory)]).toEqual([200, 200])
    }
  })

  test('end no lease of which somebody writes a newer head, and write it again', async () => {
    const { lease, entry } = await registered('overtaken')
    const newer = forgedLease(entry, hostnameIn(entry.head))
    await attacker.put({ ...newer, head: newer.head.replace(/^\d+/, '99999999999') })
    for (const relay of cluster.relays) expect(await renew(relay, lease)).toBe(200)
    expect((await attacker.lease(entry.key)).head.split(' ')[0]).toBe(entry.head.split(' ')[0])
  })

  test('take no lease for active that has ended, also one that starts later', async () => {
    const { lease, entry } = await registered('ended')
    const { access_token } = lease
    expect((await b.call('POST', '/sdk/unregister', { access_token })).status).toBe(200)
    await attacker.put(entry)
    await untilFollowed()
    for (const relay of cluster.relays) expect(await reverse(relay, lease)).toBe(404)
    expect(warnings.join('')).toContain('"entry":"lease","fault":"replayed"')
    await attacker.put(entry)
    const later = await cluster.add()
    try {
      await expect.poll(() => reverse(later, lease), SOON).toBe(404)
      expect(await holdersAt(later)).not.toHaveProperty([lease.hostname])
    } finally {
      cluster.relays.pop()
      await later.close()
    }
  })

  test('give nobody the hostname of a lease that was removed from Redis, also one that starts later', async () => {
    const account = newAccount()
    let victim: RegisterResponse | undefined
    const keys = await attacker.newKeys(async () => {
      victim = await a.register('removed', { account })
    })
    await attacker.delete(...keys)
    const later = await cluster.add()
    try {
      for (const relay of [a, b, later])
        await expect(register(relay, 'removed')).rejects.toThrow('hostname_conflict')
      expect(await renew(b, victim!)).toBe(200)
      await expect.poll(async () => (await holdersAt(later))[victim!.hostname], SOON).toMatch(/^removed:/)
    } finally {
      cluster.relays.pop()
      await later.close()
    }
  })

  test('keep the policy, whatever is put in its place, and write it again with the next change', async () => {
    expect((await decide(a, '203.0.113.1')).status).toBe(200)
    const old = await attacker.get('policy')
    expect((await decide(b, '203.0.113.2')).status).toBe(200)
    const forged = `99999 ${JSON.stringify({ banned_ips: [] })}`
    for (const entry of [forged, old.replace(/^\d+/, '99999'), old]) {
      await attacker.set('policy', entry)
      await attacker.tell('policy', '', entry)
      await untilFollowed()
      for (const relay of cluster.relays)
        expect(await bannedAt(relay)).toEqual(['203.0.113.1', '203.0.113.2'])
    }
    expect((await decide(a, '203.0.113.3')).status).toBe(200)
    const all = ['203.0.113.1', '203.0.113.2', '203.0.113.3']
    for (const relay of cluster.relays) await expect.poll(() => bannedAt(relay), SOON).toEqual(all)
    for (const fault of ['forged', 'replayed'])
      expect(warnings.join('')).toContain(`"entry":"policy","fault":"${fault}"`)
    // One that starts meanwhile is told.
    await attacker.set('policy', old)
    const later = await cluster.add()
    try {
      await expect.poll(() => bannedAt(later), SOON).toEqual(all)
      const version = async (): Promise<number> => Number((await attacker.get('policy')).split(' ')[0])
      await expect.poll(version, SOON).toBeGreaterThan(Number(old.split(' ')[0]))
    } finally {
      cluster.relays.pop()
      await later.close()
    }
  })

  test('show no change of the policy that nobody made, and lose none that was removed', async () => {
    const changes = async (): Promise<number[]> => {
      const { data } = (await a.call('GET', '/api/policy/changes', undefined, ADMIN)).json
      return (data as unknown as { changes: { id: number }[] }).changes.map(({ id }) => id)
    }
    const before = await changes()
    const [key] = (await attacker.keys()).filter((one) => one.endsWith(':policy-changes'))
    await cluster.redis.cli('LPUSH', key!, '98 {"at":"2026-01-01T00:00:00.000Z"}')
    await cluster.redis.cli('RPOP', key!)
    expect(await changes()).toEqual(before)
  })

  test('list and dial no machine that is none', async () => {
    const evil = createServer()
    let dials = 0
    evil.on('connection', (socket) => {
      dials += 1
      socket.destroy()
    })
    evil.listen(0, '127.0.0.1')
    await once(evil, 'listening')
    const { port } = evil.address() as { port: number }
    const name = `127.0.0.1:${port}`
    const status = { run: 'evil', release: '1', isDraining: false, startedAt: Date.now(), carriers: 0 }
    const figures = { readySessions: 0, visitors: 0, fromVisitors: 0, toVisitors: 0 }
    await attacker.addMachine(name, `${Date.now()} ${JSON.stringify({ ...status, ...figures })}`)
    // A machine that sees it takes it off the list.
    await expect.poll(() => attacker.machines(), SOON).not.toContain(name)
    expect(dials).toBe(0)
    expect(warnings.join('')).toContain('"entry":"machine","fault":"forged"')
    evil.close()
  })

  test('take no challenge that somebody has written', async () => {
    const account = newAccount()
    const identity = { name: 'challenged', address: account.address }
    const ask = (): Promise<Answer> => a.call('POST', '/sdk/register/challenge', { identity })
    let challenged: Answer | undefined
    const keys = await attacker.newKeys(async () => {
      challenged = await ask()
    })
    const { challenge_id } = (challenged as Answer).json.data as unknown as { challenge_id: string }
    const [key] = keys.filter((one) => one.includes(':challenge:'))
    // What its owner has once signed for somebody else.
    const message = 'I like this shop.'
    const request = { identity: { ...identity, address: account.address.toLowerCase() }, metadata: {} }
    const json = JSON.stringify({ request: { ...request, ttlS: 60, allowCanonicalFallback: true }, message })
    await cluster.redis.cli('SET', key!, `127.0.0.1 ${json}`)
    const siwe_signature = await account.signMessage({ message })
    const answer = await b.call('POST', '/sdk/register', {
      challenge_id,
      siwe_message: message,
      siwe_signature,
    })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(warnings.join('')).toContain('"entry":"challenge","fault":"forged"')
  })

  test('take a challenge once, also when it is put back', async () => {
    const account = newAccount()
    const identity = { name: 'replayed', address: account.address }
    let challenged: Answer | undefined
    const keys = await attacker.newKeys(async () => {
      challenged = await a.call('POST', '/sdk/register/challenge', { identity })
    })
    const [key] = keys.filter((one) => one.includes(':challenge:'))
    const entry = await cluster.redis.cli('GET', key!)
    const { challenge_id, siwe_message } = (challenged as Answer).json.data as unknown as {
      challenge_id: string
      siwe_message: string
    }
    const siwe_signature = await account.signMessage({ message: siwe_message })
    const body = { challenge_id, siwe_message, siwe_signature }
    expect((await a.call('POST', '/sdk/register', body)).status).toBeLessThan(300)
    await cluster.redis.cli('SET', key!, entry)
    expect((await a.call('POST', '/sdk/register', body)).status).toBeGreaterThanOrEqual(400)
  })
})
