// What dies, and what goes on: Redis, the network between two machines, and the way of one machine to Redis.

import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityKey, MARKER, type PolicyStateResponse, type RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, test as every, expect, onTestFinished } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { SHARED_STATE_RETRY_S } from '../../src/core/errors.ts'
import { openCarrier } from '../support/carrier.ts'
import {
  ADMIN,
  type ClusterRelay,
  type ClusterRelays,
  machinesSeenBy,
  startClusterRelays,
  untilLinked,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { type Answer, newAccount, type TestClient } from '../support/relay.ts'

const test = wholeOnly(every, 'faults')

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay
let c: ClusterRelay

async function start(redis?: Redis): Promise<void> {
  cluster = await startClusterRelays(3, {}, redis)
  ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
}

const tokenCall =
  (path: string) =>
  (relay: TestClient, { access_token }: { access_token: string }, more: object = {}): Promise<Answer> =>
    relay.call('POST', path, { access_token, ...more })
const [renew, reverse, unregister] = [
  tokenCall('/sdk/renew'),
  tokenCall('/sdk/reverse'),
  tokenCall('/sdk/unregister'),
]
const challenge = (relay: TestClient): Promise<Answer> =>
  relay.call('POST', '/sdk/register/challenge', { identity: { name: 'new', address: newAccount().address } })

const keyOf = ({ identity: { name, address } }: RegisterResponse): string => identityKey(name, address)

/** The end of a lease as a machine knows it, and 0 where it knows none. */
async function endAt(relay: TestClient, lease: RegisterResponse): Promise<number> {
  const { data } = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json
  const { leases } = data as unknown as PolicyStateResponse
  const found = leases.find(({ identity_key }) => identity_key === keyOf(lease))
  return Date.parse(found?.expires_at ?? new Date(0).toISOString())
}

/** A site that answers the first byte of each visitor's hello with one byte. */
async function openSite(relay: TestClient, { reverse_endpoint }: RegisterResponse, answer: number) {
  const carrier = await openCarrier(relay, reverse_endpoint.capability)
  const serve = async (): Promise<void> => {
    const { stream, read } = await carrier.open(reverse_endpoint.capability)
    if ((await read(1))[0] !== 0) return
    let marker = await read(1)
    while (marker[0] === MARKER.keepalive) marker = await read(1)
    if (marker.length === 0) return
    serve().catch(() => {})
    await read(17)
    await stream.write(Buffer.of(answer))
  }
  for (let i = 0; i < 4; i++) serve().catch(() => {})
  return carrier
}

/** @returns the first byte that a visitor of the site gets; undefined when it gets none */
async function visit(relay: TestClient, { hostname }: RegisterResponse): Promise<number | undefined> {
  const visitor = await relay.tcp()
  visitor.write(await captureHello(hostname))
  const [bytes] = await Promise.race([once(visitor, 'data'), once(visitor, 'close').then(() => [])])
  visitor.destroy()
  return bytes?.[0]
}

/** Whether no machine takes what needs Redis, and all say when to try again. */
async function expectRedisDown(relay: TestClient): Promise<void> {
  await expect
    .poll(() => challenge(relay))
    .toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
      json: { error: { code: 'feature_unavailable' } },
    })
}

let sites = 0

/** Waits until a site can register at each machine. Each attempt is another site: one whose answer was lost has its name. */
async function untilUp(relays: readonly TestClient[]): Promise<void> {
  for (const relay of relays)
    await expect
      .poll(() =>
        relay.register(`up-${sites++}`).then(
          () => 'registered',
          (error) => String(error),
        ),
      )
      .toBe('registered')
}

describe.skipIf(whyNoRedis() !== undefined)(`a Redis that fails (skipped: ${whyNoRedis()})`, () => {
  let directory: string
  let redis: Redis
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-faulty-redis-'))
    redis = await startRedis({ directory })
    await start(redis)
  })
  afterEach(async () => {
    await cluster?.close()
    await redis.stop()
    await rm(directory, { recursive: true })
  })

  test.each([
    ['stops without a sign', 'SIGSTOP'],
    ['is killed', 'SIGKILL'],
  ] as const)(
    'and %s: visitors and sites that are there go on, renewals are answered, registrations come later',
    async (_, signal) => {
      const lease = await a.register('there')
      const carrier = await openSite(a, lease, 0x2a)
      expect(await visit(b, lease)).toBe(0x2a)
      await redis.kill(signal)
      const renewed = await Promise.all(cluster.relays.map((relay) => renew(relay, lease)))
      expect(renewed.map(({ status }) => status)).toEqual([200, 200, 200])
      for (const relay of cluster.relays) {
        await expectRedisDown(relay)
        expect(await visit(relay, lease)).toBe(0x2a)
      }
      expect(carrier.socket.readyState).toBe(carrier.socket.OPEN)
      expect((await a.call('GET', '/api/healthz')).status).toBe(200)
      const policy = await a.call('POST', '/api/policy/ips', { ip: '192.0.2.1', is_banned: true }, ADMIN)
      expect(policy).toMatchObject({ status: 503, json: { error: { code: 'feature_unavailable' } } })
      await (signal === 'SIGSTOP' ? redis.kill('SIGCONT') : redis.restart())
      await untilUp(cluster.relays)
      expect((await renew(c, lease)).status).toBe(200)
      carrier.socket.terminate()
    },
  )

  test('and is killed: what ends meanwhile ends at all machines, and stays ended', async () => {
    const account = newAccount()
    const lease = await a.register('ends', { account })
    await redis.kill()
    await expectRedisDown(b)
    expect((await unregister(b, lease)).status).toBe(200)
    for (const relay of cluster.relays)
      await expect.poll(async () => (await reverse(relay, lease)).status).toBe(404)
    await redis.restart()
    await untilUp(cluster.relays)
    for (const relay of cluster.relays) {
      expect((await reverse(relay, lease)).status).toBe(404)
      await expect(relay.register('ends')).rejects.toThrow('hostname_conflict')
    }
    await c.register('ends', { account })
  })

  test('and comes back without its data: the machines fill it, and no name changes hands', async () => {
    const accounts = Array.from({ length: 5 }, newAccount)
    const leases = await Promise.all(
      accounts.map((account, at) => cluster.relays[at % 3]!.register(`kept-${at}`, { account })),
    )
    const left = await a.register('left')
    await unregister(b, left)
    await a.call('POST', '/api/policy/ips', { ip: '192.0.2.1', is_banned: true }, ADMIN)
    await redis.restart({ withoutData: true })
    await untilUp(cluster.relays)
    for (const relay of cluster.relays) {
      for (const [at, lease] of leases.entries()) {
        expect((await renew(relay, lease)).status).toBe(200)
        await expect(relay.register(`kept-${at}`)).rejects.toThrow('hostname_conflict')
      }
      await expect(relay.register('left')).rejects.toThrow('hostname_conflict')
      expect((await reverse(relay, left)).status).toBe(404)
    }
    const { data } = (await c.call('GET', '/api/policy/decisions', undefined, ADMIN)).json
    expect(data).toMatchObject({ banned_ips: ['192.0.2.1'] })
    // A machine that joins has all of it from Redis alone.
    const fourth = await cluster.add()
    for (const lease of leases) expect((await reverse(fourth, lease)).status).toBe(200)
    await expect(fourth.register('left')).rejects.toThrow('hostname_conflict')
    // The fencing tokens go on: a lease that replaces an older one wins everywhere.
    const next = await fourth.register('kept-0', { account: accounts[0]! })
    for (const relay of cluster.relays) {
      expect((await reverse(relay, next)).status).toBe(200)
      expect((await reverse(relay, leases[0]!)).status).toBe(404)
    }
  })

  test('and comes back with older data: what came since is there again, and what ended since is not', async () => {
    const [first, ends] = [await a.register('first'), await b.register('ends')]
    const copy = await mkdtemp(join(tmpdir(), 'svc-redis-copy-'))
    onTestFinished(() => rm(copy, { recursive: true }))
    await cp(directory, copy, { recursive: true })
    const second = await b.register('second')
    await unregister(c, ends)
    await a.call('POST', '/api/policy/ips', { ip: '192.0.2.2', is_banned: true }, ADMIN)
    await redis.kill()
    await rm(join(directory, 'appendonlydir'), { recursive: true })
    await cp(copy, directory, { recursive: true })
    await redis.restart()
    await untilUp(cluster.relays)
    const fourth = await cluster.add()
    for (const relay of cluster.relays) {
      for (const lease of [first, second]) expect((await renew(relay, lease)).status).toBe(200)
      expect((await reverse(relay, ends)).status).toBe(404)
      await expect(relay.register('second')).rejects.toThrow('hostname_conflict')
      await expect(relay.register('ends')).rejects.toThrow('hostname_conflict')
    }
    const { data } = (await fourth.call('GET', '/api/policy/decisions', undefined, ADMIN)).json
    expect(data).toMatchObject({ banned_ips: ['192.0.2.2'] })
  })
})

describe.skipIf(whyNoRedis() !== undefined)(`a way that is cut (skipped: ${whyNoRedis()})`, () => {
  beforeEach(() => start())
  afterEach(() => cluster?.close())

  test.each([
    [
      'refused',
      (relay: ClusterRelay) => {
        relay.link.isDown = true
        relay.link.cut()
      },
    ],
    [
      'silent',
      (relay: ClusterRelay) => {
        relay.link.isDown = true
        relay.link.stall()
      },
    ],
    [
      'half open',
      (relay: ClusterRelay) => {
        relay.link.isDown = true
        relay.link.halfOpen()
      },
    ],
  ])(
    'between machines, %s: a visitor gets what can be reached, and all of it afterwards',
    async (_, fail) => {
      const lease = await b.register('split')
      const [atA, atC] = [await openSite(a, lease, 0x0a), await openSite(c, lease, 0x0c)]
      await expect.poll(() => visit(b, lease)).toBeDefined()
      fail(a)
      await expect.poll(() => machinesSeenBy(b)).toContain(`${a.machine} unreachable`)
      expect(await Promise.all([visit(b, lease), visit(b, lease)])).toEqual([0x0c, 0x0c])
      // That of the other direction is there.
      expect(await visit(a, lease)).toBe(0x0a)
      atC.socket.terminate()
      a.link.isDown = false
      await untilLinked(cluster.relays)
      await expect.poll(() => visit(b, lease)).toBe(0x0a)
      atA.socket.terminate()
    },
  )

  test('between machines, late by 100 ms: every visitor is served', async () => {
    const lease = await b.register('slow')
    const site = await openSite(a, lease, 0x0a)
    a.link.delayMs = 100
    const answers = await Promise.all(Array.from({ length: 12 }, () => visit(b, lease)))
    expect(answers).toEqual(Array(12).fill(0x0a))
    site.socket.terminate()
  })

  test('of one machine to Redis: the others tell it what they decide, and it serves that', async () => {
    const account = newAccount()
    const [moved, kept] = [await a.register('moved', { account }), await b.register('kept')]
    const carrier = await openCarrier(a, moved.reverse_endpoint.capability)
    const banned = await b.register('banned')
    a.redisWay.isDown = true
    a.redisWay.cut()
    try {
      await expectRedisDown(a)
      expect((await renew(a, kept)).status).toBe(200)
      const next = await b.register('moved', { account })
      expect([(await reverse(a, next)).status, (await reverse(b, moved)).status]).toEqual([200, 404])
      expect((await reverse(a, moved)).status).toBe(404)
      expect(await carrier.closeCode).toBe(4002)
      const site = await openSite(a, next, 0x0c)
      expect([await visit(a, next), await visit(b, next)]).toEqual([0x0c, 0x0c])
      site.socket.terminate()
      const before = await endAt(a, kept)
      await renew(c, kept, { ttl: 600 })
      await expect.poll(() => endAt(a, kept)).toBeGreaterThan(before)
      expect((await unregister(c, kept)).status).toBe(200)
      expect(await endAt(a, kept)).toBe(0)
      const ban = { identity_key: keyOf(banned), is_banned: true }
      expect((await b.call('POST', '/api/policy/leases', ban, ADMIN)).status).toBe(200)
      const decisions = () => a.call('GET', '/api/policy/decisions', undefined, ADMIN)
      await expect.poll(async () => (await decisions()).text).toContain(keyOf(banned))
    } finally {
      a.redisWay.isDown = false
    }
    await untilUp([a])
    for (const lease of [moved, kept]) expect((await reverse(a, lease)).status).toBe(404)
  })

  test('of one machine to Redis, without a sign: it hears of a registration all the same', async () => {
    a.redisWay.stall()
    const lease = await b.register('unheard')
    expect((await reverse(a, lease)).status).toBe(200)
    a.redisWay.cut()
  })

  test('of one machine to everybody: it does not say that what it has not heard of does not exist', async () => {
    for (const way of [a.redisWay, a.link]) {
      way.isDown = true
      way.cut()
    }
    try {
      await expectRedisDown(a)
      const lease = await b.register('distant')
      const { status, headers } = await reverse(a, lease)
      expect([status, headers['retry-after']]).toEqual([503, `${SHARED_STATE_RETRY_S}`])
    } finally {
      for (const way of [a.redisWay, a.link]) way.isDown = false
    }
  })

  test('of one machine to Redis: a lease that it renews and another has ended ends there, too', async () => {
    const lease = await a.register('stale')
    a.redisWay.isDown = true
    a.link.isDown = true
    a.redisWay.cut()
    a.link.cut()
    await expectRedisDown(a)
    expect((await unregister(b, lease)).status).toBe(200)
    await renew(a, lease)
    a.redisWay.isDown = false
    a.link.isDown = false
    await expect.poll(async () => (await reverse(a, lease)).status).toBe(404)
    for (const relay of [b, c]) expect((await reverse(relay, lease)).status).toBe(404)
    // The others may have told it before it has Redis again.
    await expect.poll(() => a.register('stale').catch(String)).toContain('hostname_conflict')
  })
})
