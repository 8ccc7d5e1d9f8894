// The registry of snapshots: whose visitors come to a snapshot, until when, and which snapshot makes room for another.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now, toWallTime } from '../../src/core/clock.ts'
import { CacheCounts } from '../../src/features/static-cache/cache-counts.ts'
import {
  CACHE_CLOSING_MAX_MS,
  CACHE_CLOSING_SITES_MAX,
} from '../../src/features/static-cache/closing-sites.ts'
import { SiteSnapshots } from '../../src/features/static-cache/site-snapshots.ts'
import type { Snapshot } from '../../src/features/static-cache/snapshot.ts'
import { CACHE_SNAPSHOTS_MAX } from '../../src/features/static-cache/snapshot-registry.ts'
import { diskBytesOf } from '../../src/features/static-cache/snapshot-size.ts'
import {
  addresses,
  createRegistrySystem,
  type Kept,
  MAX_BYTES,
  publishBy,
  type RegistrySystem,
  TTL_MAX_S,
} from './registry-system.ts'

const GRACE_S = 120
const S = 1000
/** The bytes that a small file takes of the disk. */
const BLOCK = 4096

let system: RegistrySystem
beforeEach(() => {
  vi.useFakeTimers()
  system = createRegistrySystem()
})
afterEach(async () => {
  await system.registry.close()
  vi.useRealTimers()
})

const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * S)
const leftS = (identityKey: string): number => (system.registry.of(identityKey)!.expiresAt - now()) / S

describe('visitors of a site', () => {
  test('come to its snapshot at the canonical hostname alone (protocol §15.2.1)', async () => {
    const lease = system.lease('demo')
    expect(system.isServed(lease.canonicalHostname)).toBe(false)
    await system.publish(lease)
    expect(system.isServed(lease.canonicalHostname)).toBe(true)
    expect(system.routes.coveredHostnames).toEqual([lease.canonicalHostname])
    expect(system.routes.resolve(lease.hostname)).toBe(lease.route)
    const borrowed = system.registry.borrow(lease.canonicalHostname)!
    expect(borrowed.snapshot).toMatchObject({ identityKey: lease.identityKey, index: 'index.html' })
    expect(system.registry.leaseOf(lease.canonicalHostname)).toBe(lease)
    expect(system.registry.borrow(lease.hostname)).toBeUndefined()
    expect(system.registry.leaseOf(lease.hostname)).toBeUndefined()
  })

  test('come to it when the lease is gone', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    system.leases.end(lease, 'unregistered')
    expect(system.isServed(lease.canonicalHostname)).toBe(true)
    expect(system.registry.leaseOf(lease.canonicalHostname)).toBeUndefined()
    expect(system.routes.resolve(lease.hostname)).toBeUndefined()
  })

  test.each([
    ['a ban', { banned_identity_keys: [`demo:0x${'ab'.repeat(20)}`] }],
    ['a denial', { denied_identity_keys: [`demo:0x${'ab'.repeat(20)}`] }],
    ['a ban of its address', { banned_ips: [addresses.clientIp] }],
    ['a ban of the address that it reported', { banned_ips: ['198.51.100.0/24'] }],
  ])(
    '%s closes the hostname at once and removes the snapshot, with and without a lease',
    async (_, change) => {
      const lease = system.lease('demo')
      for (const isAway of [false, true]) {
        await system.publish(isAway ? system.lease('demo') : lease)
        const { canonicalHostname } = lease
        for (const active of [...system.leases]) if (isAway) system.leases.end(active, 'unregistered')
        const route = system.routes.resolve(canonicalHostname)
        system.banned.length = 0
        system.decide(change)
        expect(route?.to === 'feature' && route.isOpen()).toBe(false)
        expect(system.banned).toEqual([canonicalHostname])
        expect(system.routes.coveredHostnames).toEqual([])
        await pass(0)
        expect(system.store.records.size).toBe(0)
        system.decide({ banned_identity_keys: [], denied_identity_keys: [], banned_ips: [] })
        expect(system.isServed(canonicalHostname)).toBe(false)
      }
    },
  )

  test('do not come while an approval is missing; it brings the snapshot back', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    system.decide({ approval_mode: 'manual' })
    expect(system.isServed(lease.canonicalHostname)).toBe(false)
    expect(system.registry.borrow(lease.canonicalHostname)).toBeUndefined()
    expect(system.routes.resolve(lease.canonicalHostname)).toBe(lease.route)
    expect(system.banned).toEqual([lease.canonicalHostname])
    system.leases.end(lease, 'unregistered')
    system.decide({ approved_identity_keys: [lease.identityKey] })
    expect(system.isServed(lease.canonicalHostname)).toBe(true)
  })

  test('do not come while the relay has no certificate for the hostname', async () => {
    const lease = system.lease('demo')
    system.certify(false)
    await system.publish(lease)
    expect(system.routes.resolve(lease.canonicalHostname)).toBe(lease.route)
    system.certify(true)
    expect(system.isServed(lease.canonicalHostname)).toBe(true)
    const route = system.routes.resolve(lease.canonicalHostname)
    system.certify(false)
    expect(route?.to === 'feature' && route.isOpen()).toBe(false)
    expect(system.closed).toEqual([lease.canonicalHostname])
  })

  test('another address of the renewed lease counts from then on', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    system.leases.renew(lease, 600, undefined, { clientIp: '203.0.113.9', reportedIp: undefined })
    await pass(0)
    expect([...system.store.records.values()]).toMatchObject([{ clientIp: '203.0.113.9' }])
    system.leases.end(lease, 'unregistered')
    system.decide({ banned_ips: ['203.0.113.9'] })
    expect(system.isServed(lease.canonicalHostname)).toBe(false)
  })
})

describe('visitors who still receive what was removed', () => {
  const BANS = [
    { banned_identity_keys: [`demo:0x${'ab'.repeat(20)}`] },
    { banned_ips: [addresses.clientIp] },
    { banned_ips: ['198.51.100.0/24'] },
    { approval_mode: 'manual' as const },
  ]

  test.each(BANS)('are cut by %j, for as long as they may be there', async (change) => {
    const lease = system.lease('demo')
    await system.publish(lease)
    await system.registry.remove(lease.identityKey)
    system.decide({})
    expect(system.banned).toEqual([])
    system.decide(change)
    expect(system.banned).toEqual([lease.canonicalHostname])
    system.decide({})
    expect(system.banned).toEqual([lease.canonicalHostname])
  })

  test('have all gone after a while', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    await system.registry.remove(lease.identityKey)
    await pass(CACHE_CLOSING_MAX_MS / S)
    system.decide(BANS[0]!)
    expect(system.banned).toEqual([])
  })

  test('are cut by a ban after the relay lost its certificate', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    system.certify(false)
    expect(system.banned).toEqual([])
    system.decide(BANS[0]!)
    expect(system.banned).toEqual([lease.canonicalHostname])
  })

  test(`those of ${CACHE_CLOSING_SITES_MAX} sites: one more cuts those of the first`, async () => {
    const leases = []
    for (let number = 0; number <= CACHE_CLOSING_SITES_MAX; number++) {
      const lease = system.lease(`site${number}`)
      leases.push(lease)
      await system.publish(lease)
      await system.registry.remove(lease.identityKey)
    }
    expect(system.banned).toEqual([leases[0]!.canonicalHostname])
  })
})

describe('the end', () => {
  test.each([
    ['the last renewal and the grace, when the lease is longer', { cacheTtlS: 60 }, 600, GRACE_S + 60],
    ['the end of the lease, when that is earlier', { cacheTtlS: 60 }, 30, 30 + 60],
    ['the operator’s time, when the site names none', { cacheTtlS: 0 }, 30, 30 + TTL_MAX_S],
    ['the operator’s time, when the site wants more', { cacheTtlS: 10 * TTL_MAX_S }, 30, 30 + TTL_MAX_S],
  ])('comes a ttl after %s (protocol §15.1.7)', async (_, preferences, ttlS, expected) => {
    const lease = system.lease('demo', preferences, ttlS)
    await system.publish(lease)
    expect(leftS(lease.identityKey)).toBe(expected)
    await pass(expected - 1)
    expect(system.isServed(lease.canonicalHostname)).toBe(true)
    await pass(1)
    expect(system.isServed(lease.canonicalHostname)).toBe(false)
    expect(system.registry.borrow(lease.canonicalHostname)).toBeUndefined()
    expect(system.closed).toEqual([lease.canonicalHostname])
    expect(system.store.records.size).toBe(0)
  })

  test('moves with a renewal, and visitors do not move it (protocol §15.1.7)', async () => {
    const lease = system.lease('demo', { cacheTtlS: 60 })
    await system.publish(lease)
    await pass(100)
    system.registry.borrow(lease.canonicalHostname)
    expect(leftS(lease.identityKey)).toBe(80)
    system.leases.renew(lease, 600, undefined, addresses)
    expect(leftS(lease.identityKey)).toBe(180)
  })

  test('an unregistration makes it earlier, and never later', async () => {
    const lease = system.lease('demo', { cacheTtlS: 60 })
    await system.publish(lease)
    await pass(100)
    system.leases.end(lease, 'unregistered')
    expect(leftS(lease.identityKey)).toBe(60)
    const late = system.lease('late', { cacheTtlS: 60 }, 600)
    await system.publish(late)
    await pass(150)
    expect(leftS(late.identityKey)).toBe(30)
    system.leases.end(late, 'unregistered')
    expect(leftS(late.identityKey)).toBe(30)
  })

  test('a shutdown leaves it to the next start', async () => {
    const lease = system.lease('demo', { cacheTtlS: 60 })
    await system.publish(lease)
    system.leases.close()
    expect(leftS(lease.identityKey)).toBe(180)
  })
})

describe('another lease of the identity', () => {
  test('goes on with the snapshot, by its own ttl', async () => {
    await system.publish(system.lease('demo', { cacheTtlS: 60 }))
    const next = system.lease('demo', { cacheTtlS: 30 })
    expect(system.isServed(next.canonicalHostname)).toBe(true)
    expect(system.registry.leaseOf(next.canonicalHostname)).toBe(next)
    expect(leftS(next.identityKey)).toBe(GRACE_S + 30)
    expect(system.closed).toEqual([])
  })

  test('removes it when it did not opt in', async () => {
    await system.publish(system.lease('demo'))
    const next = system.lease('demo', { cache: false })
    expect(system.routes.resolve(next.canonicalHostname)).toBe(next.route)
    expect(system.closed).toEqual([next.canonicalHostname])
    await pass(0)
    expect(system.store.records.size).toBe(0)
  })

  test.each(['before the files are published', 'while they are'])(
    'drops the upload of the one before it, %s',
    async (when) => {
      const { admission, store, registry } = system
      const upload = admission.admitUpload(system.lease('demo'))
      const staged = await store.receive({
        manifest: { index: 'a', files: [{ path: 'a', size: 1, sha256: 'x' }] },
        owner: { identityKey: upload.lease.identityKey, hostname: upload.lease.canonicalHostname },
      })
      const replace = (): unknown => system.lease('demo')
      if (when.startsWith('before')) replace()
      const publish: typeof staged.publish = async (record) => {
        const snapshot = await staged.publish(record)
        replace()
        return snapshot
      }
      const published = registry.publish({ ...staged, publish }, upload)
      await expect(published).rejects.toMatchObject({ code: 'lease_not_found' })
      expect(store.records.size).toBe(0)
      expect(system.isServed(upload.lease.canonicalHostname)).toBe(false)
    },
  )
})

test.each(['before the files are published', 'while they are'])(
  'a removal drops what was sent before it, also when all of it is there, %s',
  async (when) => {
    const { admission, store, registry } = system
    const upload = admission.admitUpload(system.lease('demo'))
    const { identityKey, canonicalHostname: hostname } = upload.lease
    const staged = await store.receive({
      manifest: { index: 'a', files: [{ path: 'a', size: 1, sha256: 'x' }] },
      owner: { identityKey, hostname },
    })
    const removeAll = async (): Promise<void> => {
      admission.cancel(identityKey, 'the site removed its files meanwhile')
      await registry.remove(identityKey)
    }
    if (when.startsWith('before')) await removeAll()
    const publish: typeof staged.publish = async (record) => {
      const snapshot = await staged.publish(record)
      await removeAll()
      return snapshot
    }
    const published = registry.publish({ ...staged, publish }, upload)
    await expect(published).rejects.toMatchObject({ code: 'invalid_request' })
    expect(store.records.size).toBe(0)
    expect(system.isServed(hostname)).toBe(false)
  },
)

test('an upload of a lease that the policy stops routing is dropped', async () => {
  const upload = system.admission.admitUpload(system.lease('demo'))
  system.decide({ approval_mode: 'manual' })
  expect(upload.signal.reason).toMatchObject({ code: 'lease_rejected' })
  await expect(publishBy(system.registry, system.store, upload)).rejects.toMatchObject({
    code: 'lease_rejected',
  })
  expect(system.store.discarded).toBe(1)
})

describe('room', () => {
  const fill = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) await system.publish(system.lease(`site${number}`))
  }
  const makeRoom = (bytes: number, clientIp = addresses.clientIp): Promise<boolean> =>
    system.registry.makeRoom(bytes, { clientIp }, bytes)
  const isThere = (name: string): boolean => system.registry.of(`${name}:0x${'ab'.repeat(20)}`) !== undefined

  test(`there are ${CACHE_SNAPSHOTS_MAX}: one more takes the place of that which nobody used for longest`, async () => {
    await fill(CACHE_SNAPSHOTS_MAX)
    const [first, second, third] = [...system.leases]
    system.registry.borrow(first!.canonicalHostname)
    system.registry.touch(system.registry.of(second!.identityKey)!)
    await system.publish(system.lease('one-more'))
    expect(system.registry.size).toBe(CACHE_SNAPSHOTS_MAX)
    expect(system.store.records.size).toBe(CACHE_SNAPSHOTS_MAX)
    expect(['site0', 'site1', 'site2', 'one-more'].map(isThere)).toEqual([true, true, false, true])
    expect(system.closed).toEqual([third!.canonicalHostname])
  })

  test('another snapshot of the same identity takes the place of the one before it', async () => {
    await fill(2)
    await system.publish([...system.leases][0]!, 'other')
    await pass(0)
    expect(system.store.records.size).toBe(2)
    expect(system.closed).toEqual([])
  })

  test('makeRoom removes what is least used first, as much as is needed, and what has expired before that', async () => {
    await fill(3)
    const brief = system.lease('brief', { cacheTtlS: 1 }, 1)
    await system.publish(brief)
    // Its timer is late: the snapshot has expired and is still there.
    vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + BigInt(10 * S * 1e6))
    expect(await makeRoom(3)).toBe(true)
    expect(isThere('brief')).toBe(false)
    expect(system.store.records.size).toBe(3)
    expect(await makeRoom(BLOCK + 1)).toBe(true)
    expect(['site0', 'site1', 'site2'].map(isThere)).toEqual([false, false, true])
    vi.restoreAllMocks()
  })

  test('makeRoom leaves alone what a visitor reads, and removes nothing in vain', async () => {
    await fill(3)
    const borrowed = [...system.leases].map(
      ({ canonicalHostname }) => system.registry.borrow(canonicalHostname)!,
    )
    expect(await makeRoom(BLOCK)).toBe(false)
    borrowed[2]!.release()
    expect(await makeRoom(2 * BLOCK)).toBe(false)
    expect(system.registry.size).toBe(3)
    expect(await makeRoom(BLOCK)).toBe(true)
    expect(['site0', 'site1', 'site2'].map(isThere)).toEqual([true, true, false])
  })

  test('makeRoom leaves a site alone that is uploading, and removes nothing in vain', async () => {
    await fill(2)
    const [first] = [...system.leases]
    const upload = system.admission.admitUpload(first!)
    expect(await makeRoom(2 * BLOCK)).toBe(false)
    expect(system.store.records.size).toBe(2)
    expect(await makeRoom(BLOCK)).toBe(true)
    expect(['site0', 'site1'].map(isThere)).toEqual([true, false])
    upload.end()
  })
})

describe('shares of networks', () => {
  const S_OF_HOUR = 3600
  const isThere = (name: string): boolean => system.registry.of(`${name}:0x${'ab'.repeat(20)}`) !== undefined
  /** A site of that address stores a file, and is away then. */
  const store = async (name: string, clientIp: string, bytes = 1): Promise<void> => {
    const lease = system.lease(name, {}, 600, clientIp)
    await system.publish(lease, name, bytes)
    system.leases.end(lease, 'unregistered')
  }
  const storeMany = async (count: number, addressOf: (number: number) => string): Promise<void> => {
    for (let number = 0; number < count; number++)
      await store(`many${number}`, addressOf(number)).catch((error) =>
        expect(error).toMatchObject({ code: 'feature_unavailable' }),
      )
  }

  test.each<[string, (number: number) => string]>([
    ['two dozen addresses of one network', (number) => `198.51.100.${number % 24}`],
    ['two dozen addresses, each of another network', (number) => `198.51.${number % 24}.1`],
    ['as many addresses as snapshots', (number) => `203.${number % 4}.${number}.1`],
    ['a /48', (number) => `2001:db8:1:${number.toString(16)}::1`],
  ])('one-byte snapshots from %s leave the one of a site alone that is away', async (_what, addressOf) => {
    await store('victim', '192.0.2.1')
    await storeMany(3 * CACHE_SNAPSHOTS_MAX, addressOf)
    expect(isThere('victim')).toBe(true)
    expect(system.registry.size).toBe(CACHE_SNAPSHOTS_MAX)
  })

  test('an address takes nothing from its neighbours of the same network', async () => {
    await store('victim', '192.0.2.1')
    await storeMany(2 * CACHE_SNAPSHOTS_MAX, (number) => `192.0.2.${2 + (number % 24)}`)
    expect(isThere('victim')).toBe(true)
  })

  test('whoever comes new gets a place of the network that has most', async () => {
    await storeMany(CACHE_SNAPSHOTS_MAX, (number) => `198.51.100.${number % 24}`)
    await store('new', '192.0.2.1')
    await store('other', '2001:db8::1')
    expect(['new', 'other', 'many0'].map(isThere)).toEqual([true, true, false])
  })

  test('bytes have shares, too: a large snapshot stays, whatever smaller ones come from two dozen networks', async () => {
    const MIB = 1024 * 1024
    await store('victim', '192.0.2.1', 60 * MIB)
    for (let number = 0; number < 48; number++) {
      const clientIp = `198.51.${number % 24}.1`
      const bytes = 20 * MIB
      const missing = system.store.usedBytes + bytes - MAX_BYTES
      if (missing <= 0 || (await system.registry.makeRoom(missing, { clientIp }, bytes)))
        await store(`many${number}`, clientIp, bytes)
    }
    expect(isThere('victim')).toBe(true)
    expect(system.store.usedBytes).toBeLessThanOrEqual(MAX_BYTES)
  })

  test('a snapshot that nobody has used for an hour makes room for a network that has none', async () => {
    await storeMany(CACHE_SNAPSHOTS_MAX, (number) => `203.${number}.1.1`)
    await expect(store('new', '192.0.2.1')).rejects.toMatchObject({ code: 'feature_unavailable' })
    await pass(S_OF_HOUR - 1)
    system.registry.borrow(hostnameOf('many0'))
    await pass(1)
    await store('new', '192.0.2.1')
    expect(['many0', 'many1', 'many2', 'new'].map(isThere)).toEqual([true, false, true, true])
  })

  const hostnameOf = (name: string): string => `${name}-${'ab'.repeat(20)}.relay.localhost`
})

describe('after a restart', () => {
  const ALL = 'ab'.repeat(20)
  const kept = (name: string, fields: Partial<Kept['record']> = {}, host = 'relay.localhost'): Kept => {
    const file = { path: 'a', size: 1, sha256: 'x', codings: new Map() }
    const snapshot: Snapshot = {
      id: `${name}${fields.publishedAt}`,
      identityKey: `${name}:0x${ALL}`,
      hostname: `${name}-${ALL}.${host}`,
      index: 'a',
      hasFallback: true,
      files: new Map([['a', file]]),
    }
    const times = { expiresAt: toWallTime(now() + 60 * S), publishedAt: Date.now() }
    return { snapshot, record: { ...times, ...addresses, ...fields } }
  }
  const restart = async (all: Kept[], change = {}): Promise<void> => {
    await system.registry.close()
    system = createRegistrySystem(all, change)
    await pass(0)
  }

  test('the snapshots are served until their end, and leases join them', async () => {
    await restart([kept('demo')])
    expect(system.isServed(`demo-${ALL}.relay.localhost`)).toBe(true)
    expect(leftS(`demo:0x${ALL}`)).toBe(60)
    const lease = system.lease('demo', { cacheTtlS: 5 }, 30)
    expect(leftS(lease.identityKey)).toBe(35)
    expect(system.registry.leaseOf(lease.canonicalHostname)).toBe(lease)
  })

  test('a lease without cache removes its snapshot', async () => {
    await restart([kept('demo')])
    system.lease('demo', { cache: false })
    expect(system.registry.size).toBe(0)
  })

  test('what may not be served is removed: expired, banned, below another host, or replaced', async () => {
    await restart(
      [
        kept('expired', { expiresAt: toWallTime(now()) }),
        kept('banned', { clientIp: '203.0.113.1' }),
        kept('elsewhere', {}, 'old.localhost'),
        kept('twice', { publishedAt: 2 }),
        kept('twice', { publishedAt: 1 }),
        kept('fine'),
      ],
      { banned_ips: ['203.0.113.1'] },
    )
    const left = [...system.store.records.keys()].map(({ id }) => id)
    expect(left.toSorted()).toEqual([expect.stringMatching(/^fine/), 'twice2'])
    expect(system.registry.size).toBe(2)
  })

  test('a wall clock that was set back gives no snapshot more time than one can have', async () => {
    await restart([kept('demo', { expiresAt: Date.now() + 365 * 86_400 * S })])
    expect(leftS(`demo:0x${ALL}`)).toBe(GRACE_S + TTL_MAX_S)
  })

  test('too many of them: the oldest go', async () => {
    const all = Array.from({ length: CACHE_SNAPSHOTS_MAX + 2 }, (_, number) =>
      kept(`site${number}`, { publishedAt: Date.now() - number }),
    )
    await restart(all)
    expect(system.registry.size).toBe(CACHE_SNAPSHOTS_MAX)
    expect(system.registry.of(`site0:0x${ALL}`)).toBeDefined()
    expect(system.registry.of(`site${CACHE_SNAPSHOTS_MAX}:0x${ALL}`)).toBeUndefined()
  })
})

test('a check of another manifest is answered when no restart brings the files back, and does not wait until they are erased', async () => {
  const { store, registry, admission } = system
  const counts = new CacheCounts()
  const bytes = 1024 * BLOCK
  const sites = new SiteSnapshots({
    store: store as never,
    registry,
    admission,
    counts,
    canServe: () => true,
    bytes,
  })
  const lease = system.lease('demo')
  await system.publish(lease)
  const invalidated = Promise.withResolvers<void>()
  const erased = Promise.withResolvers<void>()
  vi.spyOn(store, 'remove').mockImplementation(async (_snapshot, onInvalidated) => {
    await invalidated.promise
    onInvalidated?.()
    await erased.promise
  })
  const file = { path: 'other', size: 1, sha256: 'ab'.repeat(32) }
  let isAnswered = false
  const status = sites.check(lease, { index: 'other', files: [file] })
  void Promise.resolve(status).then(() => {
    isAnswered = true
  })
  expect(system.isServed(lease.canonicalHostname)).toBe(false)
  await pass(1)
  expect(isAnswered).toBe(false)
  invalidated.resolve()
  expect(await status).toEqual({ isPresent: false })
  erased.resolve()
})

describe('the record', () => {
  const stored = (): { expiresAt: number } => [...system.store.records.values()][0]!

  test('follows renewals a minute late at most, and an earlier end at once', async () => {
    const lease = system.lease('demo', { cacheTtlS: 60 })
    await system.publish(lease)
    const published = stored().expiresAt
    for (let renewals = 0; renewals < 10; renewals++) {
      await pass(10)
      system.leases.renew(lease, 600, undefined, addresses)
      await pass(0)
      const behind = toWallTime(system.registry.of(lease.identityKey)!.expiresAt) - stored().expiresAt
      expect(behind).toBeLessThan(60 * S)
    }
    expect(stored().expiresAt).toBeGreaterThan(published)
    expect(system.store.rewrites).toBe(1)
    system.leases.end(lease, 'unregistered')
    await pass(0)
    expect(stored().expiresAt).toBe(toWallTime(now() + 60 * S))
  })

  test('is not written any more when the snapshot is gone', async () => {
    const lease = system.lease('demo')
    await system.publish(lease)
    const rewrite = vi.spyOn(system.store, 'rewrite')
    await system.registry.remove(lease.identityKey)
    system.leases.renew(lease, 600, undefined, addresses)
    await pass(0)
    expect(rewrite).not.toHaveBeenCalled()
  })
})

test('close takes every route and leaves every file', async () => {
  const lease = system.lease('demo')
  await system.publish(lease)
  const used = diskBytesOf([...system.store.records.keys()][0]!)
  await system.registry.close()
  expect(system.routes.coveredHostnames).toEqual([])
  expect(system.closed).toEqual([lease.canonicalHostname])
  expect(vi.getTimerCount()).toBe(1)
  expect(system.store.usedBytes).toBe(used)
})
