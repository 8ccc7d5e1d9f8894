// Challenges and leases: bounds, replacement, conflicts and expiry, with the clock under control.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Challenges } from '../../src/core/auth/challenges.ts'
import type { RateLimitSettings } from '../../src/core/config/settings.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import type { LeaseRequest } from '../../src/core/lease/lease-request.ts'
import { Reservations } from '../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { unauthenticatedMemory } from '../../src/core/rate-limit/request-memory.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'

const addresses = { clientIp: '192.0.2.1', reportedIp: undefined }
const ALICE = `0x${'aa'.repeat(20)}`
const BOB = `0x${'bb'.repeat(20)}`

function request(name: string, address: string, fields: Partial<LeaseRequest> = {}): LeaseRequest {
  return { identity: { name, address }, allowCanonicalFallback: false, metadata: {}, ttlS: 120, ...fields }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const USUAL = { networkPerMinute: 10, relayPerMinute: 600 }

describe('Challenges', () => {
  test('32 open ones per source; taking or expiry makes room', () => {
    const challenges = new Challenges('relay.localhost', unauthenticatedMemory(), USUAL)
    const issue = (source: string) => challenges.issue(request('demo', ALICE), source)
    const first = issue('192.0.2.1')
    for (let i = 1; i < 32; i++) issue('192.0.2.1')
    expect(() => issue('192.0.2.1')).toThrow(
      // not the life of a challenge: an honest client uses it at once
      expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '2' } }),
    )
    expect(issue('192.0.2.2').id).toMatch(/^rch_[0-9a-f]{16}$/)
    expect(challenges.take(first.id)).toBe(first)
    issue('192.0.2.1')
    vi.advanceTimersByTime(120_000)
    for (let i = 0; i < 32; i++) issue('192.0.2.1')
  })

  test('where the budget of a network is raised, it may have more open in proportion; a spared client is not counted', () => {
    const issued = (settings: RateLimitSettings, source: string): number => {
      const challenges = new Challenges('relay.localhost', unauthenticatedMemory(), settings)
      for (let count = 0; ; count++)
        try {
          challenges.issue(request('demo', ALICE), source)
        } catch {
          return count
        }
    }
    expect(issued({ ...USUAL, networkPerMinute: 100 }, '192.0.2.1')).toBe(320)
    expect(issued({ ...USUAL, networkPerMinute: 5 }, '192.0.2.1')).toBe(32)
    const spared = { ...USUAL, sparesLoopback: true }
    expect(issued(spared, '127.0.0.1')).toBeGreaterThan(1_000)
    expect(issued(spared, '192.0.2.1')).toBe(32)
  })

  test('one is used once, and within two minutes (protocol §4.3.1)', () => {
    const challenges = new Challenges('relay.localhost', unauthenticatedMemory(), USUAL)
    const [used, late] = ['a', 'b'].map((name) => challenges.issue(request(name, ALICE), '192.0.2.1'))
    expect(challenges.take(used!.id)).toBe(used)
    expect(challenges.take(used!.id)).toBeUndefined()
    vi.advanceTimersByTime(120_000)
    expect(challenges.take(late!.id)).toBeUndefined()
  })

  test('1 MiB of metadata in those of a source; taking or expiry makes room', () => {
    const challenges = new Challenges('relay.localhost', unauthenticatedMemory(), USUAL)
    const metadata = { thumbnail: `data:,${'x'.repeat(256 * 1024 - 6)}` }
    const issue = (source: string) => challenges.issue(request('demo', ALICE, { metadata }), source)
    const refusal = expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '2' } })
    const [first] = [1, 2, 3, 4].map(() => issue('192.0.2.0'))
    expect(() => issue('192.0.2.0')).toThrow(refusal)
    challenges.take(first!.id)
    expect(issue('192.0.2.0').id).toMatch(/^rch_/)
    vi.advanceTimersByTime(120_000)
    for (let i = 0; i < 4; i++) issue('192.0.2.200')
  })

  test('10,000 open ones of all sources', () => {
    const challenges = new Challenges('relay.localhost', unauthenticatedMemory(), USUAL)
    for (let i = 0; i < 10_000; i++) challenges.issue(request('demo', ALICE), `source ${i}`)
    expect(() => challenges.issue(request('demo', ALICE), 'one more')).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    )
  })
})

describe('LeaseRegistry', () => {
  const setup = () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    return { routes, leases: new LeaseRegistry(routes, new Reservations()) }
  }

  test('publishes both hostnames at once and withdraws them at expiry', () => {
    const { routes, leases } = setup()
    const lease = leases.draft(request('demo', ALICE), addresses).commit()
    const canonical = `demo-${'aa'.repeat(20)}.relay.localhost`
    expect(lease.hostnames).toEqual(['demo.relay.localhost', canonical])
    for (const hostname of lease.hostnames) expect(routes.resolve(hostname)).toEqual({ to: 'lease', lease })
    vi.advanceTimersByTime(119_999)
    expect(routes.resolve(canonical)).toBeDefined()
    vi.advanceTimersByTime(1)
    expect(routes.resolve(canonical)).toBeUndefined()
    expect(lease.ended.reason).toBe('expired')
  })

  test('of two renewals at machines whose clocks differ, the later statement of the site counts', () => {
    const { leases } = setup()
    const lease = leases.draft(request('demo', ALICE), addresses).commit()
    const shared = { ...lease, portHost: undefined, machine: 'other', ports: undefined }
    const statement = (issuedAt: string) => ({ issued_at: issuedAt, expires_at: '', signature: '' })
    const [early, late] = ['2026-01-01T00:00:00.001Z', '2026-01-01T00:00:00.002Z'].map(statement)
    leases.apply({ ...shared, expiresAt: lease.expiresAt + 10, statement: early })
    leases.apply({ ...shared, expiresAt: lease.expiresAt - 5, statement: late })
    expect(lease.statement).toBe(late)
    leases.apply({ ...shared, expiresAt: lease.expiresAt - 5, statement: early })
    expect(lease.statement).toBe(late)
    // A site whose clock was ahead and is right again: its next renewal counts.
    leases.apply({ ...shared, expiresAt: lease.expiresAt + 10, statement: early })
    expect(lease.statement).toBe(early)
  })

  test('renewal moves the expiry', () => {
    const { routes, leases } = setup()
    const lease = leases.draft(request('demo', ALICE), addresses).commit()
    vi.advanceTimersByTime(100_000)
    leases.renew(lease, 600, { description: 'renewed' }, addresses)
    vi.advanceTimersByTime(599_999)
    expect(routes.publishedAt('demo.relay.localhost')).toBe(lease.route)
    expect(lease.metadata).toEqual({ description: 'renewed' })
    vi.advanceTimersByTime(1)
    expect(() => leases.renew(lease, 600, undefined, addresses)).toThrow(
      expect.objectContaining({ code: 'lease_not_found' }),
    )
  })

  test('the same identity replaces its lease: a new instance, the routes stay', () => {
    const { routes, leases } = setup()
    const first = leases.draft(request('demo', ALICE), addresses).commit()
    vi.advanceTimersByTime(1000)
    const second = leases.draft(request('demo', ALICE), addresses).commit()
    expect(first.ended.reason).toBe('replaced')
    expect(second.id).not.toBe(first.id)
    expect(second.firstSeenAt).toBe(first.firstSeenAt)
    expect(leases.find(first.identity, first.id)).toBeUndefined()
    expect(leases.find(first.identity, second.id)).toBe(second)
    leases.end(first, 'unregistered')
    expect(routes.publishedAt('demo.relay.localhost')).toBe(second.route)
  })

  test('a taken name is a conflict, or canonical only when that is allowed; never a takeover', () => {
    const { routes, leases } = setup()
    const alice = leases.draft(request('demo', ALICE), addresses).commit()
    expect(() => leases.draft(request('demo', BOB), addresses).commit()).toThrow(
      expect.objectContaining({ code: 'hostname_conflict' }),
    )
    const bob = leases.draft(request('demo', BOB, { allowCanonicalFallback: true }), addresses).commit()
    expect(bob.hostnames).toEqual([`demo-${'bb'.repeat(20)}.relay.localhost`])
    expect(routes.publishedAt('demo.relay.localhost')).toBe(alice.route)
    leases.end(alice, 'unregistered')
    vi.advanceTimersByTime(600_000)
    expect(leases.draft(request('demo', BOB), addresses).commit().hostname).toBe('demo.relay.localhost')
  })

  test('a draft keeps its name and ports for the lease to come, and gives them back when it is aborted', () => {
    const { leases } = setup()
    const calls: string[] = []
    const claimed = {
      ports: { tcp: 4242 },
      serve: (lease: Lease) => void calls.push(`serve ${lease.addressOf('tcp')}`),
      release: () => void calls.push('release'),
    }
    const conflict = expect.objectContaining({ code: 'hostname_conflict' })
    const draft = leases.draft(request('demo', ALICE), addresses, claimed)
    expect(draft).toMatchObject({ hostname: 'demo.relay.localhost', ports: { tcp: 4242 }, ...addresses })
    expect(() => leases.draft(request('demo', BOB), addresses, claimed)).toThrow(conflict)
    expect([calls.splice(0), leases.size]).toEqual([['release'], 0])
    draft.abort()
    expect(calls.splice(0)).toEqual(['release'])
    const bobs = leases.draft(request('demo', BOB), addresses, claimed)
    expect(leases.at('demo.relay.localhost')).toBeUndefined()
    const lease = bobs.commit()
    expect(leases.at('demo.relay.localhost')).toBe(lease)
    expect(calls).toEqual(['serve relay.localhost:4242'])
  })

  test('the root host is the API, and unknown names are nobody', () => {
    const { routes } = setup()
    expect(routes.resolve('relay.localhost')).toEqual({ to: 'root' })
    expect(routes.resolve('nobody.relay.localhost')).toBeUndefined()
    expect(routes.resolve('localhost')).toBeUndefined()
  })
})

test('pictures of hundreds of sites have room; one more is refused, and what is there stays as it is', () => {
  const leases = new LeaseRegistry(new RoutingTable<Route>('relay.localhost', ROOT_ROUTE), new Reservations())
  const metadata = { thumbnail: 'x'.repeat(256 * 1024) }
  const from = (index: number): typeof addresses => ({
    ...addresses,
    clientIp: `198.${index >> 8}.${index & 255}.1`,
  })
  const register = (index: number, more: Partial<LeaseRequest> = { metadata }) => {
    const address = `0x${index.toString(16).padStart(40, '0')}`
    return leases.draft(request(`n${index}`, address, more), from(index)).commit()
  }
  // Another network has room for one while what is free is sixteen times as much.
  const all = Array.from({ length: 512 - 15 }, (_, index) => register(index))
  const refusal = expect.objectContaining({ code: 'feature_unavailable' })
  expect(() => register(512)).toThrow(refusal)
  const without = register(512, { metadata: { hide: true } })
  expect(() => leases.renew(without, 120, metadata, from(512))).toThrow(refusal)
  expect(without.metadata).toEqual({ hide: true })
  leases.renew(all[1]!, 120, metadata, from(1))
  const replacement = register(1)
  leases.end(all[2]!, 'unregistered')
  leases.renew(without, 120, metadata, from(512))
  leases.renew(replacement, 120, { owner: 'a' }, from(1))
  leases.requireRoomFor({ description: 'a'.repeat(256 * 1024 - 1) }, '198.51.100.1')
})
