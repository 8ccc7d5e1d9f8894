// Redis of several machines: what it does for two who ask at once, what it forgets by itself, and what it is told when it fails.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { createLog } from '../../src/core/log/log.ts'
import { unauthenticatedMemory } from '../../src/core/rate-limit/request-memory.ts'
import { isBefore } from '../../src/features/cluster/redis/change-feed.ts'
import { RedisKeys } from '../../src/features/cluster/redis/keys.ts'
import { RedisClient, RedisError } from '../../src/features/cluster/redis/redis-client.ts'
import { withRedisLock } from '../../src/features/cluster/redis/redis-lock.ts'
import {
  HEARTBEAT,
  LOCK,
  NEXT_FENCE,
  PUT,
  REGISTER,
  SET_POLICY,
  SWEEP_INDEX,
  UNLOCK,
} from '../../src/features/cluster/redis/scripts.ts'
import { deriveClusterKey } from '../../src/features/cluster/shared/cluster-key.ts'
import { Seal } from '../../src/features/cluster/shared/seal.ts'
import { SharedAttempts } from '../../src/features/cluster/shared/shared-attempts.ts'
import { SharedChallenges } from '../../src/features/cluster/shared/shared-challenges.ts'
import { whyNoRedis } from '../support/cluster-relays.ts'
import { redisAddress } from '../support/redis-servers.ts'

const NAME_KEPT_MS = 600_000
const INDEX_MS = 172_800_000
const FENCE_MAX = 1e14
const HOST = 'relay.example'
const log = createLog('silent')
const seal = new Seal(deriveClusterKey('a secret of 32 characters or more', HOST), log)
const keys = new RedisKeys(HOST, seal)
const forever = new AbortController().signal

let redis: Redis
let client: RedisClient

/** What a machine tells of a lease. Scripts read the clear part of a head alone. */
interface Fields {
  key: string
  fence?: number
  name?: string
  ttlMs?: number
  epoch?: string
}

const nextFence = async (known = 0): Promise<number> =>
  Number(await client.run(NEXT_FENCE, { fence: keys.fence }, { known, most: FENCE_MAX }))
const timeOf = async (): Promise<number> => {
  const [seconds, microseconds] = (await client.command('TIME')) as string[]
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000)
}
const register = async ({ key, fence, name = '-', ttlMs = 60_000, epoch = 'epoch' }: Fields) => {
  const given = fence ?? (await nextFence())
  const head = `${given} ${(await timeOf()) + ttlMs} 0 ${name} tag sealed`
  return (await client.run(
    REGISTER,
    {
      epoch: keys.epoch,
      lease: keys.lease(key),
      holder: keys.holder(name),
      changes: keys.changes,
      index: keys.leaseIndex,
    },
    {
      epoch,
      identity: key,
      leases: keys.leases,
      hostname: name,
      fence: given,
      ttlMs,
      keptMs: NAME_KEPT_MS,
      indexMs: INDEX_MS,
      changesKept: 1000,
      machine: 'run',
      head,
      json: 'tag {}',
    },
  )) as [string, string?, string?]
}

interface Put {
  key: string
  fence: number
  expires: number
  isEnded?: boolean
  name?: string
  json?: string
}

const put = ({ key, fence, expires, isEnded = false, name = '-', json = 'tag {}' }: Put) =>
  client.run(
    PUT,
    {
      lease: keys.lease(key),
      holder: keys.holder(name),
      changes: keys.changes,
      fence: keys.fence,
      index: keys.leaseIndex,
    },
    {
      identity: key,
      leases: keys.leases,
      fence,
      expires,
      isEnd: isEnded ? 1 : 0,
      hostname: name,
      keptMs: NAME_KEPT_MS,
      indexMs: INDEX_MS,
      isIndexDue: 1,
      changesKept: 1000,
      machine: 'run',
      head: `${fence} ${expires} ${isEnded ? 1 : 0} ${name} tag sealed`,
      tag: 'tag',
      json,
    },
  ) as Promise<[string, string?, string?]>

const beat = async (machine: string, entry: string, keptMs = 600_000) =>
  (await client.run(
    HEARTBEAT,
    { machines: keys.machines, epoch: keys.epoch, changes: keys.changes },
    { machine, entry, keptMs, most: 64 },
  )) as [number, string, string, string[]]
const setPolicy = (expected: string, entry: string) =>
  client.run(
    SET_POLICY,
    { policy: keys.policy, changes: keys.changes },
    { expected, entry, changesKept: 1000, machine: 'run' },
  )

const ttlOf = async (key: string): Promise<number> => Number(await client.command('PTTL', key))
const headOf = async (key: string) => (await client.command('HGET', keys.lease(key), 'h')) as string

test.each([
  ['1-0', '2-0', true],
  ['9-0', '10-0', true],
  ['5-9', '5-10', true],
  ['5-1', '5-1', false],
  ['0-0', '0-1', true],
  ['10-0', '9-5', false],
])('a change with the id %s is before one with %s: %s', (one, other, isFirst) => {
  expect(isBefore(one, other)).toBe(isFirst)
})

describe.skipIf(whyNoRedis() !== undefined)(`Redis (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    redis = await startRedis()
    client = new RedisClient(redisAddress(redis.url), log)
    await vi.waitFor(() => client.command('PING'))
  })
  afterAll(async () => {
    await client?.close()
    await redis?.stop()
  })
  beforeEach(async () => {
    await client.command('FLUSHALL')
    await client.command('SET', keys.epoch, 'epoch')
  })

  describe('gives out', () => {
    test('fencing tokens that are larger each time, and than all that the machine knows', async () => {
      expect([await nextFence(), await nextFence(), await nextFence(7), await nextFence()]).toEqual([
        1, 2, 8, 9,
      ])
    })

    test.each(['99999999999999999', 'nan', 'something', '-5'])(
      'them also from where somebody has written %s',
      async (written) => {
        await client.command('SET', keys.fence, written)
        expect([await nextFence(3), await nextFence(3)]).toEqual([4, 5])
      },
    )
  })

  describe('registers', () => {
    test('nobody while it has another epoch than the machine knows', async () => {
      expect(await register({ key: 'one:0x1', epoch: 'another' })).toEqual(['epoch'])
      await client.command('DEL', keys.epoch)
      expect(await register({ key: 'one:0x1' })).toEqual(['epoch'])
      expect(await client.command('EXISTS', keys.lease('one:0x1'))).toBe(0)
    })

    test('one of those who want a name at once, and shows the others its head', async () => {
      const name = 'race'
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, at) => register({ key: `race:0x${at}`, name })),
      )
      const [winner] = replies.filter(([outcome]) => outcome === 'registered')
      expect(winner?.[1]).toMatch(/^\d+-\d+$/)
      const losers = replies.filter(([outcome]) => outcome === 'conflict')
      expect(losers).toHaveLength(49)
      const holder = (await client.command('GET', keys.holder(name))) as string
      for (const [, identity, head] of losers)
        expect([identity, head]).toEqual([holder, await headOf(holder)])
    })

    test('nobody with a smaller fencing token than the lease that the identity has', async () => {
      await register({ key: 'one:0x1', fence: 5 })
      expect(await register({ key: 'one:0x1', fence: 4 })).toEqual([
        'newer',
        'one:0x1',
        await headOf('one:0x1'),
      ])
    })

    test('over an invalid head', async () => {
      await client.command('HSET', keys.lease('one:0x1'), 'h', 'no head')
      expect((await register({ key: 'one:0x1' }))[0]).toBe('registered')
    })

    test('the name of a lease that ended 10 minutes ago, and not sooner', async () => {
      const endedAt = async (name: string, ago: number): Promise<void> => {
        const expires = (await timeOf()) - ago
        await put({ key: `${name}:0x1`, fence: 1, expires, isEnded: true, name })
      }
      await endedAt('kept', NAME_KEPT_MS - 60_000)
      await endedAt('free', NAME_KEPT_MS + 1_000)
      expect((await register({ key: 'kept:0x2', name: 'kept' }))[0]).toBe('conflict')
      expect((await register({ key: 'free:0x2', name: 'free' }))[0]).toBe('registered')
    })
  })

  describe('takes of a lease', () => {
    const key = 'one:0x1'
    const name = 'one'
    let expires: number
    beforeEach(async () => {
      await register({ key, name })
      expires = Number((await headOf(key)).split(' ')[1])
    })

    test('a renewal, and of two renewals the longer one', async () => {
      expect((await put({ key, fence: 1, expires: expires + 10_000, name }))[0]).toBe('put')
      expect(await put({ key, fence: 1, expires: expires + 5_000, name })).toEqual([
        'end',
        key,
        `1 ${expires + 10_000} 0 ${name} tag sealed`,
      ])
    })

    test('its end, after which it is never active again', async () => {
      await put({ key, fence: 1, expires: expires - 50_000, isEnded: true, name })
      const head = `1 ${expires - 50_000} 1 ${name} tag sealed`
      expect(await put({ key, fence: 1, expires: expires + 10_000, name })).toEqual(['gone', key, head])
      expect(await headOf(key)).toBe(head)
    })

    test('nothing that is older than the lease which replaced it', async () => {
      await register({ key, name })
      expect((await put({ key, fence: 1, expires: expires + 100_000, name }))[0]).toBe('gone')
      expect((await put({ key, fence: 1, expires, isEnded: true, name }))[0]).toBe('gone')
      expect(await headOf(key)).toMatch(/^2 /)
    })

    test('all of it when it does not know it, and then goes on with larger fencing tokens', async () => {
      await put({ key: 'two:0x1', fence: 40, expires, name: 'two' })
      expect(await nextFence()).toBe(41)
      expect((await put({ key: 'two:0x2', fence: 39, expires, name: 'two' }))[0]).toBe('gone')
    })

    test('no part of what it does not know: it asks for the rest, also where the JSON is another one', async () => {
      expect(await put({ key: 'two:0x1', fence: 5, expires, json: '' })).toEqual(['json'])
      expect(await client.command('EXISTS', keys.lease('two:0x1'))).toBe(0)
      expect((await put({ key, fence: 1, expires, name, json: '' }))[0]).toBe('put')
      await client.command('HSET', keys.lease(key), 'j', 'other {}')
      expect(await put({ key, fence: 1, expires, name, json: '' })).toEqual(['json'])
    })
  })

  test('forgets by itself each lease 10 minutes behind its end, and keeps nothing that is not bounded', async () => {
    await register({ key: 'one:0x1', name: 'one' })
    const expires = Number((await headOf('one:0x1')).split(' ')[1])
    await put({ key: 'one:0x1', fence: 1, expires: expires + 1_000, name: 'one' })
    const memory = unauthenticatedMemory()
    const rateLimits = { networkPerMinute: 10, relayPerMinute: 600 }
    const challenges = new SharedChallenges({ host: HOST, redis: client, keys, seal, rateLimits, memory })
    const identity = { name: 'one', address: `0x${'ab'.repeat(20)}` }
    await challenges.issue({ identity, allowCanonicalFallback: false, metadata: {}, ttlS: 60 }, '192.0.2.1')
    await beat('a:1', '1 sealed')
    await setPolicy('', '1 sealed')
    await client.run(LOCK, { lock: keys.lock('start') }, { holder: 'holder', lifetimeMs: 15_000 })
    const lasting = new Set<string>()
    for (const key of (await client.command('KEYS', '*')) as string[]) {
      const ttl = await ttlOf(key)
      // -2 is one that has ended since it was listed.
      if (ttl === -1) lasting.add(key)
      else expect(ttl, key).toBeLessThanOrEqual(INDEX_MS)
    }
    // One entry each, but for the stream and the two indices, which are cut and swept.
    expect(lasting).toEqual(
      new Set([keys.epoch, keys.fence, keys.changes, keys.machines, keys.policy, keys.leaseIndex]),
    )
    const left = await ttlOf(keys.lease('one:0x1'))
    expect(left).toBeGreaterThan(61_000 + NAME_KEPT_MS - 5_000)
    expect(left).toBeLessThanOrEqual(61_000 + NAME_KEPT_MS)
  })

  test('keeps about as many changes as it is told', async () => {
    for (let i = 0; i < 1_500; i++) await register({ key: `many:0x${i}` })
    expect(Number(await client.command('XLEN', keys.changes))).toBeLessThan(1_200)
  })

  test('sweeps its index of leases of those that are over, a part at a time', async () => {
    for (const key of ['a:0x1', 'b:0x1', 'c:0x1']) await register({ key })
    await client.command('DEL', keys.lease('a:0x1'), keys.lease('b:0x1'))
    const members = () => client.command('ZRANGE', keys.leaseIndex, 0, -1)
    await client.run(SWEEP_INDEX, { index: keys.leaseIndex }, { leases: keys.leases, count: 1 })
    expect(await members()).toHaveLength(2)
    await client.run(SWEEP_INDEX, { index: keys.leaseIndex }, { leases: keys.leases, count: 500 })
    expect(await members()).toEqual(['c:0x1'])
  })

  test('knows 64 machines; one more is not listed, and one that was silent for long makes room', async () => {
    const beatNow = async (name: string, keptMs?: number) =>
      await beat(name, `${await timeOf()} sealed`, keptMs)
    for (let i = 0; i < 65; i++) await beatNow(`machine:${i}`)
    const [, epoch, change, all] = await beatNow('machine:0')
    expect([epoch, change, all.length]).toEqual(['epoch', '0-0', 2 * 64])
    expect(all).not.toContain('machine:64')
    await sleep(20)
    const [, , , later] = await beatNow('machine:64', 10)
    expect(later.filter((_, at) => at % 2 === 0)).toEqual(['machine:64'])
  })

  test('lets one of those who change the policy at once', async () => {
    expect(await Promise.all(['1 a', '1 b', '1 c'].map((entry) => setPolicy('', entry)))).toEqual([1, 0, 0])
    expect([await setPolicy('1 a', '2 d'), await setPolicy('1 a', '2 e')]).toEqual([1, 0])
    expect(await client.command('GET', keys.policy)).toBe('2 d')
  })

  describe('the budget of a network', () => {
    // A burst of 18.
    const limits = { networkPerMinute: 3, relayPerMinute: 600 }
    const parts = () => ({
      host: HOST,
      redis: client,
      keys,
      seal,
      rateLimits: limits,
      memory: unauthenticatedMemory(),
    })
    const identity = { name: 'one', address: `0x${'ab'.repeat(20)}` }
    const request = { identity, allowCanonicalFallback: false, metadata: {}, ttlS: 60 }

    test('is spent at all machines together: of 30 challenges at two of them, 18 are there', async () => {
      const machines = [new SharedChallenges(parts()), new SharedChallenges(parts())]
      const outcomes = await Promise.allSettled(
        Array.from({ length: 30 }, (_, at) => machines[at % 2]!.issue(request, '192.0.2.1')),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(18)
      const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(refused.reason).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '20' } })
      // Another network has its own.
      await machines[0]!.issue(request, '198.51.100.1')
    })

    test('a challenge is taken once, whoever asks first', async () => {
      const machines = [new SharedChallenges(parts()), new SharedChallenges(parts())]
      const { id, message } = await machines[0]!.issue(request, '192.0.2.1')
      const taken = await Promise.all([0, 1].map((at) => machines[at]!.take(id, '192.0.2.1')))
      expect(taken.filter((one) => one !== undefined)).toEqual([{ request, message }])
    })

    test('has 32 open challenges at most', async () => {
      const machine = new SharedChallenges({
        ...parts(),
        rateLimits: { networkPerMinute: 10, relayPerMinute: 600 },
      })
      const issued = []
      for (let i = 0; i < 32; i++) issued.push(await machine.issue(request, '192.0.2.1'))
      await expect(machine.issue(request, '192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' })
      await machine.take(issued[0]!.id, '192.0.2.1')
      await machine.issue(request, '192.0.2.1')
    })

    test('gets back what is refunded, and never more than it had', async () => {
      const machine = new SharedChallenges(parts())
      for (let i = 0; i < 18; i++) await machine.issue(request, '192.0.2.1')
      await machine.refund('192.0.2.1')
      for (let i = 0; i < 6; i++) await machine.issue(request, '192.0.2.1')
      await expect(machine.issue(request, '192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' })
      for (let i = 0; i < 10; i++) await machine.refund('192.0.2.1')
      expect(await client.command('EXISTS', keys.budget('192.0.2.1'))).toBe(0)
    })
  })

  test('wrong secrets of a network are counted at all machines together, whichever is asked (protocol §2.4.8)', async () => {
    const machines = [1, 2, 3].map(() => new SharedAttempts({ redis: client, keys }, 'invitation'))
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, at) => machines[at % 3]!.failed('192.0.2.1')),
    )
    const refused = outcomes.filter(({ waitS }) => waitS !== undefined)
    expect(outcomes.length - refused.length).toBe(5)
    for (const { waitS } of refused) expect(waitS).toBeGreaterThan(50)
    expect(refused.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    // Neither another network nor another kind of secret is affected, and all is forgotten after a minute.
    expect((await machines[0]!.failed('198.51.100.1')).waitS).toBeUndefined()
    const others = new SharedAttempts({ redis: client, keys }, 'other')
    expect((await others.failed('192.0.2.1')).waitS).toBeUndefined()
    for (const key of (await client.command('KEYS', '*failures*')) as string[]) {
      expect(key).not.toContain('192.0.2.1')
      const ttl = await ttlOf(key)
      expect([ttl > 0, ttl <= 60_000]).toEqual([true, true])
    }
  })

  test('a wrong secret counts again when the oldest of five is a minute old', async () => {
    const attempts = new SharedAttempts({ redis: client, keys }, 'invitation')
    for (let i = 0; i < 5; i++) await attempts.failed('192.0.2.1')
    const key = keys.failures('invitation', '192.0.2.1')
    await client.command('LSET', key, -1, (await timeOf()) - 59_000)
    expect((await attempts.failed('192.0.2.1')).waitS).toBe(1)
    await client.command('LSET', key, -1, (await timeOf()) - 60_000)
    expect((await attempts.failed('192.0.2.1')).waitS).toBeUndefined()
    expect(await client.command('LLEN', key)).toBe(5)
    expect((await attempts.failed('192.0.2.1')).waitS).toBeGreaterThan(50)
  })

  describe('a lock', () => {
    const parts = () => ({ redis: client, keys, seal })

    test('is one machine’s at a time', async () => {
      let inside = 0
      let most = 0
      const use = async (): Promise<void> => {
        inside += 1
        most = Math.max(most, inside)
        await sleep(5)
        inside -= 1
      }
      await Promise.all([0, 1, 2].map(() => withRedisLock(parts(), 'one', forever, use)))
      expect(most).toBe(1)
      expect(await client.command('EXISTS', keys.lock('one'))).toBe(0)
    })

    test('is given back by who has it alone, and by itself when the holder is gone', async () => {
      const lock = (holder: string, lifetimeMs = 15_000) =>
        client.run(LOCK, { lock: keys.lock('two') }, { holder, lifetimeMs })
      expect([await lock('one'), await lock('other'), await lock('one')]).toEqual(['one', 'one', 'one'])
      await client.run(UNLOCK, { lock: keys.lock('two') }, { holder: 'other' })
      expect(await lock('other')).toBe('one')
      await lock('one', 1)
      await expect.poll(() => lock('other')).toBe('other')
    })

    test('is not waited for any more once the machine ends', async () => {
      const holder = seal.close('lock', keys.lock('three'), '', 'another machine')
      await client.run(LOCK, { lock: keys.lock('three') }, { holder, lifetimeMs: 15_000 })
      const ending = AbortSignal.timeout(50)
      await expect(withRedisLock(parts(), 'three', ending, async () => {})).rejects.toMatchObject({
        name: 'AbortError',
      })
    })
  })

  test('that has a lock which no machine has taken, gives it to the first one that asks', async () => {
    await client.command('SET', keys.lock('four'), 'somebody')
    expect(await withRedisLock({ redis: client, keys, seal }, 'four', forever, async () => 'inside')).toBe(
      'inside',
    )
  })

  test('that refuses a command is up, and says why', async () => {
    await expect(client.command('HGET', keys.epoch, 'field')).rejects.toThrow(/^Redis refuses: WRONGTYPE/)
    expect(client.isUp).toBe(true)
  })
})

describe.skipIf(whyNoRedis() !== undefined)(`a Redis (skipped: ${whyNoRedis()})`, () => {
  const events: string[] = []
  beforeEach(async () => {
    redis = await startRedis()
    client = new RedisClient(redisAddress(redis.url), log)
    events.length = 0
    client.on('up', () => events.push('up'))
    client.on('down', () => events.push('down'))
    await expect.poll(() => client.command('PING').catch(String)).toBe('PONG')
  })
  afterEach(async () => {
    await client?.close()
    await redis?.stop()
  })

  test('that stops without a sign is down after 2 s, and up again once it answers', async () => {
    await redis.kill('SIGSTOP')
    const from = performance.now()
    await expect(client.command('PING')).rejects.toThrow(RedisError)
    expect(performance.now() - from).toBeGreaterThan(1_950)
    expect([client.isUp, events]).toEqual([false, ['up', 'down']])
    // Nobody waits for it meanwhile: it is refused before the event loop turns.
    const turned = new Promise((resolve) => setImmediate(resolve, 'it waits'))
    await expect(Promise.race([client.command('PING'), turned])).rejects.toThrow('Redis does not answer')
    await redis.kill('SIGCONT')
    await expect.poll(() => client.command('PING').catch(String)).toBe('PONG')
    expect(events).toEqual(['up', 'down', 'up'])
  })

  test('that is killed is down at once, for readers of changes too, and up again with its data', async () => {
    await client.command('XADD', keys.changes, '*', 'lease', 'one:0x1', 'from', 'run', 'entry', '1 2 0 -')
    const reading = expect(client.changesAfter(keys.changes, '9999999999999-0')).rejects.toThrow(RedisError)
    await redis.kill()
    await reading
    await expect.poll(() => client.isUp).toBe(false)
    await redis.restart()
    await expect
      .poll(() => client.changesAfter(keys.changes, '0-0').catch(String))
      .toEqual([{ id: expect.any(String), kind: 'lease', subject: 'one:0x1', from: 'run', entry: '1 2 0 -' }])
    await expect.poll(() => client.command('PING').catch(String)).toBe('PONG')
  })

  test('that has no changes answers with none within a second', async () => {
    const from = performance.now()
    expect(await client.changesAfter(keys.changes, '0-0')).toEqual([])
    expect(performance.now() - from).toBeGreaterThan(450)
  })
})
