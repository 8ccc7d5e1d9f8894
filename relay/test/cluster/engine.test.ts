// The engine of several machines: what it does for two who ask at once, what it forgets by itself, and what it is told when it fails.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { isBefore } from '../../src/cluster/engine/change-feed.ts'
import { Engine, EngineError } from '../../src/cluster/engine/engine.ts'
import { withEngineLock } from '../../src/cluster/engine/engine-lock.ts'
import { EngineKeys } from '../../src/cluster/engine/keys.ts'
import {
  HEARTBEAT,
  LOCK,
  PUT,
  REGISTER,
  SET_POLICY,
  SWEEP_INDEX,
  UNLOCK,
} from '../../src/cluster/engine/scripts.ts'
import { SharedChallenges } from '../../src/cluster/shared/shared-challenges.ts'
import { createLog } from '../../src/log/log.ts'
import { unauthenticatedMemory } from '../../src/rate-limit/request-memory.ts'
import { whyNoEngine } from '../support/cluster-relays.ts'
import { engineAddress } from '../support/engines.ts'

const NAME_KEPT_MS = 600_000
const INDEX_MS = 172_800_000
const keys = new EngineKeys('relay.example')
const forever = new AbortController().signal

let redis: Redis
let engine: Engine

/** What a machine tells of a lease. */
interface Fields {
  key: string
  name?: string
  mayFallBack?: boolean
  ttlMs?: number
  epoch?: string
}

const register = ({ key, name = '-', mayFallBack = false, ttlMs = 60_000, epoch = 'epoch' }: Fields) =>
  engine.run(
    REGISTER,
    [keys.epoch, keys.fence, keys.lease(key), keys.name(name), keys.changes, keys.leaseIndex],
    [epoch, key, keys.leases, name, mayFallBack ? 1 : 0, ttlMs, NAME_KEPT_MS, INDEX_MS, 1000, 'run', '{}'],
  ) as Promise<[string, number, number, string, number, string]>

interface Put {
  key: string
  fence: number
  expires: number
  isEnded?: boolean
  name?: string
  json?: string
}

const put = ({ key, fence, expires, isEnded = false, name = '-', json = '{}' }: Put) =>
  engine.run(
    PUT,
    [keys.lease(key), keys.name(name), keys.changes, keys.fence, keys.leaseIndex],
    [
      key,
      keys.leases,
      fence,
      expires,
      isEnded ? 1 : 0,
      name,
      NAME_KEPT_MS,
      INDEX_MS,
      1,
      1000,
      'run',
      json,
      '',
    ],
  ) as Promise<[string, number?, string?]>

const ttlOf = async (key: string): Promise<number> => Number(await engine.command('PTTL', key))
const headOf = async (key: string) => (await engine.command('HGET', keys.lease(key), 'h')) as string

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

describe.skipIf(whyNoEngine() !== undefined)(`the engine (skipped: ${whyNoEngine()})`, () => {
  beforeAll(async () => {
    redis = await startRedis()
    engine = new Engine(engineAddress(redis.url), createLog('silent'))
    await vi.waitFor(() => engine.command('PING'))
  })
  afterAll(async () => {
    await engine?.close()
    await redis?.stop()
  })
  beforeEach(async () => {
    await engine.command('FLUSHALL')
    await engine.command('SET', keys.epoch, 'epoch')
  })

  describe('registers', () => {
    test('with a fencing token that is larger each time, and the end of the lease by its own clock', async () => {
      const [outcome, fence, expires, name, now, change] = await register({
        key: 'one:0x1',
        name: 'one.relay.example',
      })
      expect([outcome, fence, name, expires - now]).toEqual(['registered', 1, 'one.relay.example', 60_000])
      expect(change).toMatch(/^\d+-\d+$/)
      expect((await register({ key: 'one:0x1' }))[1]).toBe(2)
      expect((await register({ key: 'two:0x1' }))[1]).toBe(3)
    })

    test('nobody while it has another epoch than the machine knows', async () => {
      expect(await register({ key: 'one:0x1', epoch: 'another' })).toEqual(['epoch'])
      await engine.command('DEL', keys.epoch)
      expect(await register({ key: 'one:0x1' })).toEqual(['epoch'])
      expect(await engine.command('EXISTS', keys.fence)).toBe(0)
    })

    test('one of those who want a name at once', async () => {
      const name = 'race.relay.example'
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, at) => register({ key: `race:0x${at}`, name })),
      )
      const outcomes = replies.map(([outcome]) => outcome)
      expect(outcomes.filter((outcome) => outcome === 'registered')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(49)
    })

    test('without the name who may do without it', async () => {
      const name = 'one.relay.example'
      await register({ key: 'one:0x1', name })
      expect((await register({ key: 'one:0x2', name, mayFallBack: true }))[3]).toBe('-')
      expect(await engine.command('GET', keys.name(name))).toBe('one:0x1')
    })

    test('the name of a lease that ended 10 minutes ago, and not sooner', async () => {
      const name = 'kept.relay.example'
      const now = Number(((await engine.command('TIME')) as string[])[0]) * 1000
      await put({ key: 'kept:0x1', fence: 1, expires: now - NAME_KEPT_MS + 1_500, isEnded: true, name })
      expect(await register({ key: 'kept:0x2', name })).toEqual(['conflict'])
      await sleep(2_600)
      expect((await register({ key: 'kept:0x2', name }))[0]).toBe('registered')
    })
  })

  describe('takes of a lease', () => {
    const key = 'one:0x1'
    const name = 'one.relay.example'
    let expires: number
    beforeEach(async () => {
      ;[, , expires] = await register({ key, name })
    })

    test('a renewal, and of two renewals the longer one', async () => {
      expect((await put({ key, fence: 1, expires: expires + 10_000, name })).slice(0, 2)).toEqual([
        'put',
        expires + 10_000,
      ])
      expect((await put({ key, fence: 1, expires: expires + 5_000, name })).slice(0, 2)).toEqual([
        'put',
        expires + 10_000,
      ])
    })

    test('its end, after which it is never active again', async () => {
      await put({ key, fence: 1, expires: expires - 50_000, isEnded: true, name })
      expect(await put({ key, fence: 1, expires: expires + 10_000, name })).toEqual(['gone'])
      expect(await headOf(key)).toBe(`1 ${expires - 50_000} 1 ${name}`)
    })

    test('nothing that is older than the lease which replaced it', async () => {
      await register({ key, name })
      expect(await put({ key, fence: 1, expires: expires + 100_000, name })).toEqual(['gone'])
      expect(await put({ key, fence: 1, expires, isEnded: true, name })).toEqual(['gone'])
      expect(await headOf(key)).toMatch(/^2 /)
    })

    test('all of it when it does not know it, and then goes on with larger fencing tokens', async () => {
      await put({ key: 'two:0x1', fence: 40, expires, name: 'two.relay.example' })
      expect((await register({ key: 'three:0x1' }))[1]).toBe(41)
      expect(await put({ key: 'two:0x2', fence: 39, expires, name: 'two.relay.example' })).toEqual(['gone'])
    })

    test('no part of what it does not know: it asks for the rest', async () => {
      expect(await put({ key: 'two:0x1', fence: 5, expires, json: '' })).toEqual(['json'])
      expect(await engine.command('EXISTS', keys.lease('two:0x1'))).toBe(0)
    })
  })

  test('forgets by itself each lease 10 minutes behind its end, and keeps nothing that is not bounded', async () => {
    const [, , expires] = await register({ key: 'one:0x1', name: 'one.relay.example' })
    await put({ key: 'one:0x1', fence: 1, expires: expires + 1_000, name: 'one.relay.example' })
    const memory = unauthenticatedMemory()
    const rateLimits = { networkPerMinute: 10, relayPerMinute: 600 }
    const challenges = new SharedChallenges({ host: 'relay.example', engine, keys, rateLimits, memory })
    const identity = { name: 'one', address: `0x${'ab'.repeat(20)}` }
    await challenges.issue({ identity, allowCanonicalFallback: false, metadata: {}, ttlS: 60 }, '192.0.2.1')
    await engine.run(HEARTBEAT, [keys.machines, keys.epoch, keys.changes], ['a:1', '{}', 600_000, 64])
    await engine.run(SET_POLICY, [keys.policy, keys.changes], [0, '{}', 1000, 'run', 0])
    await engine.run(LOCK, [keys.lock('start')], ['holder', 15_000])
    const lasting = new Set<string>()
    for (const key of (await engine.command('KEYS', '*')) as string[]) {
      const ttl = await ttlOf(key)
      if (ttl < 0) lasting.add(key)
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
    expect(Number(await engine.command('XLEN', keys.changes))).toBeLessThan(1_200)
  })

  test('sweeps its index of leases of those that are over, a part at a time', async () => {
    for (const key of ['a:0x1', 'b:0x1', 'c:0x1']) await register({ key })
    await engine.command('DEL', keys.lease('a:0x1'), keys.lease('b:0x1'))
    const members = () => engine.command('ZRANGE', keys.leaseIndex, 0, -1)
    await engine.run(SWEEP_INDEX, [keys.leaseIndex], [keys.leases, 1])
    expect(await members()).toHaveLength(2)
    await engine.run(SWEEP_INDEX, [keys.leaseIndex], [keys.leases, 500])
    expect(await members()).toEqual(['c:0x1'])
  })

  test('knows 64 machines; one more is not listed, and one that was silent for long makes room', async () => {
    const beat = (name: string, keptMs = 600_000) =>
      engine.run(HEARTBEAT, [keys.machines, keys.epoch, keys.changes], [name, '{}', keptMs, 64]) as Promise<
        [number, string, string, string[]]
      >
    for (let i = 0; i < 65; i++) await beat(`machine:${i}`)
    const [, epoch, change, all] = await beat('machine:0')
    expect([epoch, change, all.length]).toEqual(['epoch', '0-0', 2 * 64])
    expect(all).not.toContain('machine:64')
    await sleep(20)
    const [, , , later] = await beat('machine:64', 10)
    expect(later.filter((_, at) => at % 2 === 0)).toEqual(['machine:64'])
  })

  test('lets one of those who change the policy at once, and goes on behind the highest version of the two', async () => {
    const set = (version: number, own = 0) =>
      engine.run(SET_POLICY, [keys.policy, keys.changes], [version, `{"by":${version}}`, 1000, 'run', own])
    expect(await Promise.all([set(0), set(0), set(0)])).toEqual([1, 0, 0])
    expect(await set(1)).toBe(2)
    expect(await set(1)).toBe(0)
    expect(await set(2, 9)).toBe(10)
    expect(await engine.command('GET', keys.policy)).toBe('10 {"by":2}')
  })

  describe('the budget of a network', () => {
    const limits = { networkPerMinute: 10, relayPerMinute: 600 }
    const parts = () => ({
      host: 'relay.example',
      engine,
      keys,
      rateLimits: limits,
      memory: unauthenticatedMemory(),
    })
    const identity = { name: 'one', address: `0x${'ab'.repeat(20)}` }
    const request = { identity, allowCanonicalFallback: false, metadata: {}, ttlS: 60 }

    test('is spent at all machines together: of 30 challenges at two of them, 20 are there', async () => {
      const machines = [new SharedChallenges(parts()), new SharedChallenges(parts())]
      const outcomes = await Promise.allSettled(
        Array.from({ length: 30 }, (_, at) => machines[at % 2]!.issue(request, '192.0.2.1')),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
      const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(refused.reason).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '6' } })
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
        rateLimits: { networkPerMinute: 1e6, relayPerMinute: 1e6 },
      })
      const issued = []
      for (let i = 0; i < 32; i++) issued.push(await machine.issue(request, '192.0.2.1'))
      await expect(machine.issue(request, '192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' })
      await machine.take(issued[0]!.id, '192.0.2.1')
      await machine.issue(request, '192.0.2.1')
    })

    test('gets back what is refunded, and never more than it had', async () => {
      const machine = new SharedChallenges(parts())
      for (let i = 0; i < 20; i++) await machine.issue(request, '192.0.2.1')
      await machine.refund('192.0.2.1')
      for (let i = 0; i < 6; i++) await machine.issue(request, '192.0.2.1')
      await expect(machine.issue(request, '192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' })
      for (let i = 0; i < 10; i++) await machine.refund('192.0.2.1')
      expect(await engine.command('EXISTS', keys.budget('192.0.2.1'))).toBe(0)
    })
  })

  describe('a lock', () => {
    const parts = () => ({ engine, keys })

    test('is one machine’s at a time', async () => {
      let inside = 0
      let most = 0
      const use = async (): Promise<void> => {
        inside += 1
        most = Math.max(most, inside)
        await sleep(5)
        inside -= 1
      }
      await Promise.all([0, 1, 2].map(() => withEngineLock(parts(), 'one', forever, use)))
      expect(most).toBe(1)
      expect(await engine.command('EXISTS', keys.lock('one'))).toBe(0)
    })

    test('is given back by who has it alone, and by itself when the holder is gone', async () => {
      const lock = (holder: string, ms = 15_000) => engine.run(LOCK, [keys.lock('two')], [holder, ms])
      expect([await lock('one', 100), await lock('other'), await lock('one', 100)]).toEqual([1, 0, 1])
      await engine.run(UNLOCK, [keys.lock('two')], ['other'])
      expect(await lock('other')).toBe(0)
      await sleep(150)
      expect(await lock('other')).toBe(1)
    })

    test('is not waited for any more once the machine ends', async () => {
      await engine.run(LOCK, [keys.lock('three')], ['holder', 15_000])
      const ending = AbortSignal.timeout(50)
      await expect(withEngineLock(parts(), 'three', ending, async () => {})).rejects.toMatchObject({
        name: 'AbortError',
      })
    })
  })

  test('that refuses a command is up, and says why', async () => {
    await expect(engine.command('HGET', keys.epoch, 'field')).rejects.toThrow(
      /^the engine refuses: WRONGTYPE/,
    )
    expect(engine.isUp).toBe(true)
  })
})

describe.skipIf(whyNoEngine() !== undefined)(`an engine (skipped: ${whyNoEngine()})`, () => {
  const events: string[] = []
  beforeEach(async () => {
    redis = await startRedis()
    engine = new Engine(engineAddress(redis.url), createLog('silent'))
    events.length = 0
    engine.on('up', () => events.push('up'))
    engine.on('down', () => events.push('down'))
    await expect.poll(() => engine.command('PING').catch(String)).toBe('PONG')
  })
  afterEach(async () => {
    await engine?.close()
    await redis?.stop()
  })

  test('that stops without a sign is down after 2 s, and up again once it answers', async () => {
    await redis.kill('SIGSTOP')
    const from = performance.now()
    await expect(engine.command('PING')).rejects.toThrow(EngineError)
    expect(performance.now() - from).toBeGreaterThan(1_950)
    expect([engine.isUp, events]).toEqual([false, ['up', 'down']])
    // Nobody waits for it meanwhile.
    const later = performance.now()
    await expect(engine.command('PING')).rejects.toThrow('the engine does not answer')
    expect(performance.now() - later).toBeLessThan(1_900)
    await redis.kill('SIGCONT')
    await expect.poll(() => engine.command('PING').catch(String)).toBe('PONG')
    expect(events).toEqual(['up', 'down', 'up'])
  })

  test('that is killed is down at once, for readers of changes too, and up again with its data', async () => {
    await engine.command('XADD', keys.changes, '*', 'lease', 'one:0x1', 'from', 'run', 'entry', '1 2 0 -')
    const reading = expect(engine.changesAfter(keys.changes, '9999999999999-0')).rejects.toThrow(EngineError)
    await redis.kill()
    await reading
    await expect.poll(() => engine.isUp).toBe(false)
    await redis.restart()
    await expect
      .poll(() => engine.changesAfter(keys.changes, '0-0').catch(String))
      .toEqual([{ id: expect.any(String), kind: 'lease', subject: 'one:0x1', from: 'run', entry: '1 2 0 -' }])
    await expect.poll(() => engine.command('PING').catch(String)).toBe('PONG')
  })

  test('that has no changes answers with none within a second', async () => {
    const from = performance.now()
    expect(await engine.changesAfter(keys.changes, '0-0')).toEqual([])
    expect(performance.now() - from).toBeGreaterThan(450)
  })
})
