// Every bound of what all clients share leaves room: neither two dozen addresses nor a /48 keep the next client out, whatever
// they take.

import { describe, test as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { Challenges } from '../../src/core/auth/challenges.ts'
import { networkOf } from '../../src/core/client-address/ip-address.ts'
import { ConnectionLimiter } from '../../src/core/ingress/connection-limiter.ts'
import { Lease } from '../../src/core/lease/lease.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import type { LeaseRequest } from '../../src/core/lease/lease-request.ts'
import { METADATA_TOTAL_MAX_CHARS, MetadataQuota } from '../../src/core/lease/metadata-quota.ts'
import { Reservations } from '../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { NetworkCounts } from '../../src/core/rate-limit/fair-share.ts'
import { RequestMemory, unauthenticatedMemory } from '../../src/core/rate-limit/request-memory.ts'
import { ClaimQueue } from '../../src/core/reverse/claim-queue.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { OpenPayments } from '../../src/features/payment/open-payments.ts'
import { FairQueue } from '../../src/features/site-certificates/fair-queue.ts'
import { newLease } from '../support/lease.ts'

const test = wholeOnly(every, 'depth')

/** Takes one more for a client of that address, and keeps it. @returns whether it got it */
type Take = (address: string, number: number) => boolean

const REFUSALS: unknown[] = ['rate_limited', 'feature_unavailable']

const answered = (take: () => unknown): boolean => {
  try {
    take()
    return true
  } catch (error) {
    // A hundred thousand are thrown: `expect` would take most of the time.
    if (!REFUSALS.includes((error as { code?: unknown }).code)) throw error
    return false
  }
}

const requestOf = (number: number, metadata = {}): LeaseRequest => ({
  identity: { name: `n${number}`, address: `0x${number.toString(16).padStart(40, '0')}` },
  allowCanonicalFallback: true,
  metadata,
  ttlS: 600,
})

const BOUNDS: Record<string, () => Take> = {
  'bytes of requests': () => {
    const memory = unauthenticatedMemory()
    return (address) => answered(() => memory.share(networkOf(address)).resize(256 * 1024))
  },
  'bytes of responses': () => {
    const memory = new RequestMemory({ perClient: 16, total: 256 })
    return (address) => answered(() => memory.share(networkOf(address)).resize(1))
  },
  'open challenges': () => {
    const challenges = new Challenges('relay.localhost', new RequestMemory({ perClient: 1, total: 1 }), {
      networkPerMinute: 10,
      relayPerMinute: 600,
    })
    return (address, number) => answered(() => challenges.issue(requestOf(number), address))
  },
  'silent connections': () => {
    const limiter = new ConnectionLimiter({ isOverloaded: () => false, onRefuse: () => {} })
    return (address) => {
      const socket = { once: () => socket, resetAndDestroy: () => {} }
      return limiter.admit(socket as never, address)
    }
  },
  'open connections': () => {
    const limiter = new ConnectionLimiter({ isOverloaded: () => false, onRefuse: () => {} })
    limiter.bound(4096)
    return (address) => {
      const socket = { once: () => socket, resetAndDestroy: () => {} }
      const isIn = limiter.admit(socket as never, address)
      limiter.onClientHello(socket as never)
      return isIn
    }
  },
  'visitors that wait for a session': () => {
    const queue = new ClaimQueue()
    const never = new AbortController().signal
    return (address) => {
      const before = queue.size
      void queue.wait({ network: networkOf(address), isLowPriority: false }, never, 2 ** 31 - 1)
      return queue.size > before
    }
  },
  'payments at once': () => {
    const payments = new OpenPayments()
    return (address) => answered(() => payments.begin(networkOf(address)))
  },
  'sites that wait for a certificate': () => {
    const queue = new FairQueue<number>(64, 1024)
    return (address, number) => {
      const hasRoom = queue.hasRoom(networkOf(address))
      if (hasRoom) queue.push(networkOf(address), number)
      return hasRoom
    }
  },
  'metadata of leases': () => {
    const quota = new MetadataQuota()
    const description = 'a'.repeat(METADATA_TOTAL_MAX_CHARS / 512)
    return (clientIp) =>
      answered(() => {
        quota.require({ description }, clientIp)
        quota.set(Object.assign(newLease(), { clientIp, metadata: { description } }))
      })
  },
}

/** More than any of the bounds. */
const ATTEMPTS = 24_000

const ATTACKERS: [string, (number: number) => string][] = [
  ['two dozen addresses of one network', (number) => `198.51.100.${number % 24}`],
  ['two dozen addresses, each of another network', (number) => `198.51.${number % 24}.1`],
  ['the same, one after the other', (number) => `198.51.${Math.floor(number / (ATTEMPTS / 24))}.1`],
  ['a /48', (number) => `2001:db8:1:${(number % 65_536).toString(16)}::1`],
]

describe.each(Object.keys(BOUNDS))('%s', (name) => {
  test.each(ATTACKERS)('%s leave room for the next client', (_what, addressOf) => {
    const take = BOUNDS[name]!()
    for (let number = 0; number < ATTEMPTS; number++) take(addressOf(number), number)
    expect(take('192.0.2.1', ATTEMPTS)).toBe(true)
    expect(take('2001:db8:2::1', ATTEMPTS + 1)).toBe(true)
  })
})

test('leases of one network leave half of the places to others', () => {
  const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
  const leases = new LeaseRegistry(routes, new Reservations())
  const register = (number: number, clientIp: string): Lease =>
    leases.draft(requestOf(number), { clientIp, reportedIp: undefined }).commit()
  let number = 0
  expect(() => {
    for (;;) register(number++, `198.51.100.${number % 24}`)
  }).toThrow(expect.objectContaining({ code: 'feature_unavailable' }))
  const [first] = leases
  expect(register(number, '192.0.2.1')).toBeInstanceOf(Lease)
  expect(leases.size).toBeGreaterThanOrEqual(50_001)
  leases.end(first!, 'unregistered')
  expect(register(number + 1, '198.51.100.1')).toBeInstanceOf(Lease)
  leases.close()
})

test('whoever gives back may have it again', () => {
  const counts = new NetworkCounts()
  counts.add('192.0.2.1', 3)
  expect([counts.mayHave(1, '192.0.2.1', 3, 6), counts.mayHave(1, '192.0.2.2', 3, 6)]).toEqual([false, false])
  expect(counts.mayHave(1, '198.51.100.1', 3, 6)).toBe(true)
  counts.add('192.0.2.1', -3)
  expect(counts.mayHave(3, '192.0.2.2', 3, 6)).toBe(true)
  expect(counts.of('192.0.2.1')).toBe(0)
})
