// Which sites have an away page: leases, certificates, policy and bounds, without sockets.

import { beforeEach, describe, expect, test } from 'vitest'
import type { Lease } from '../../src/core/lease/lease.ts'
import { NO_PREFERENCES } from '../../src/core/lease/lease-preferences.ts'
import type { AwayLease } from '../../src/core/lease/lease-registry.ts'
import type { FeatureRoute } from '../../src/core/lease/route.ts'
import { AwayPages } from '../../src/features/away-page/away-pages.ts'
import { HeadEnd } from '../../src/features/away-page/head-end.ts'
import { AWAY_PAGES_PER_NETWORK_MAX } from '../../src/features/away-page/limits.ts'
import { newLease } from '../support/lease.ts'

let covers: Map<string, FeatureRoute>
let changed: (lease: Lease) => void
let ended: (lease: AwayLease, isAsked: boolean) => void
/** The sites that were away before the relay started. */
let before: AwayLease[]
let start: () => void
/** What the relay says about every lease. */
let relay: { isAwaited: boolean; isRouted: boolean; isAvailable: boolean; isClosing: boolean }

beforeEach(() => {
  covers = new Map()
  relay = { isAwaited: true, isRouted: true, isAvailable: true, isClosing: false }
  before = []
  const pages = new AwayPages({
    leases: {
      *away() {
        yield* before
      },
      onChange: (listener) => {
        changed = listener
      },
      onAway: (listener) => {
        ended = listener
      },
      isAwaited: () => relay.isAwaited,
    },
    routes: {
      cover: (hostname, route) => void covers.set(hostname, route as FeatureRoute),
      uncover: (hostname, route) => {
        if (covers.get(hostname) === route) covers.delete(hostname)
      },
    },
    policy: { routes: () => relay.isRouted, mayRoute: () => relay.isRouted },
    certificates: {
      get isAvailable() {
        return relay.isAvailable
      },
    },
    server: { serve: async () => {} },
    isClosing: () => relay.isClosing,
  })
  start = () => pages.start()
  start()
})

function lease(name = 'demo', fields: Parameters<typeof newLease>[0] = {}): Lease {
  const made = newLease({
    identity: { name, address: `0x${'ab'.repeat(20)}` },
    hostname: `${name}.relay.localhost`,
    preferences: { ...NO_PREFERENCES, awayPage: true },
    ...fields,
  })
  changed(made)
  return made
}

function end(ended: Lease, reason: 'expired' | 'unregistered' | 'replaced' | 'shutdown' = 'expired'): void {
  ended.end(reason)
  changed(ended)
}

describe('a page', () => {
  test.each(['expired', 'unregistered'] as const)('is there after a lease that was %s', (reason) => {
    end(lease(), reason)
    expect(covers.get('demo.relay.localhost')?.isOpen()).toBe(true)
  })

  test.each(['replaced', 'shutdown'] as const)('is not there after a lease that was %s', (reason) => {
    end(lease(), reason)
    expect([...covers.keys()]).toEqual([])
  })

  test('goes when the identity registers again, and when another one has the hostname', () => {
    end(lease())
    lease()
    expect([...covers.keys()]).toEqual([])
    end(lease())
    expect([...covers.keys()]).toEqual(['demo.relay.localhost'])
    lease('demo', {
      identity: { name: 'demo', address: `0x${'cd'.repeat(20)}` },
      preferences: NO_PREFERENCES,
    })
    expect([...covers.keys()]).toEqual([])
  })

  test('is closed while the policy lets no visitor in, without a certificate, and while the relay closes', () => {
    end(lease())
    const route = covers.get('demo.relay.localhost')!
    for (const change of [{ isRouted: false }, { isAvailable: false }, { isClosing: true }]) {
      const before = { ...relay }
      Object.assign(relay, change)
      expect(route.isOpen(), JSON.stringify(change)).toBe(false)
      Object.assign(relay, before)
      expect(route.isOpen()).toBe(true)
    }
  })

  test('goes for good when the name no longer waits for its identity', () => {
    end(lease())
    const route = covers.get('demo.relay.localhost')!
    relay.isAwaited = false
    expect(route.isOpen()).toBe(false)
    expect([...covers.keys()]).toEqual([])
  })

  test('is there for a site that was away before the relay started, and goes when it comes', () => {
    const identity = { name: 'old', address: `0x${'ab'.repeat(20)}` }
    const identityKey = `old:${identity.address}`
    before = [{ hostname: 'old.relay.localhost', identity, identityKey, registeredFrom: '192.0.2' }]
    start()
    const route = covers.get('old.relay.localhost')!
    expect(route.isOpen()).toBe(true)
    relay.isRouted = false
    expect(route.isOpen()).toBe(false)
    lease('old', { identity })
    expect([...covers.keys()]).toEqual([])
  })

  test('is there for a site of whose last lease another machine tells, if that asked for it', () => {
    const site = lease()
    ended(site, true)
    expect(covers.get('demo.relay.localhost')?.isOpen()).toBe(true)
    ended(site, false)
    expect(covers.size).toBe(0)
    relay.isAwaited = false
    ended(site, true)
    expect(covers.size).toBe(0)
  })

  test('is not there before the relay started for a name that does not wait', () => {
    relay.isAwaited = false
    const identity = { name: 'old', address: `0x${'ab'.repeat(20)}` }
    before = [
      {
        hostname: 'old.relay.localhost',
        identity,
        identityKey: `old:${identity.address}`,
        registeredFrom: '',
      },
    ]
    start()
    expect([...covers.keys()]).toEqual([])
  })

  test('of one network there are so many, and the oldest goes first', () => {
    for (let n = 0; n <= AWAY_PAGES_PER_NETWORK_MAX; n++) {
      const address = `0x${n.toString(16).padStart(40, '0')}`
      end(lease(`n${n}`, { identity: { name: `n${n}`, address } }))
    }
    expect(covers.size).toBe(AWAY_PAGES_PER_NETWORK_MAX)
    expect(covers.has('n0.relay.localhost')).toBe(false)
  })
})

describe('the end of a head', () => {
  test('is found in pieces of any size, and nothing after it is looked at', () => {
    const bytes = Buffer.from('GET / HTTP/1.1\r\nA: b\r\n\r\r\n\r\nbody')
    const size = bytes.indexOf('body')
    for (let cut = 0; cut < bytes.length; cut++) {
      const head = new HeadEnd(size)
      const states = [
        head.take(bytes.subarray(0, cut)),
        ...(cut < size ? [head.take(bytes.subarray(cut))] : []),
      ]
      expect(states.at(-1), `${cut}`).toBe('whole')
    }
    expect(new HeadEnd(size - 1).take(bytes)).toBe('too_long')
    expect(new HeadEnd(size).take(bytes.subarray(0, size - 1))).toBe('open')
  })

  test.each([
    ['HEAD / HTTP/1.1\r\n\r\n', true],
    ['HEADER / HTTP/1.1\r\n\r\n', false],
    ['GET / HTTP/1.1\r\nA: HEAD \r\n\r\n', false],
    ['\r\n\r\n', false],
  ])('of %j says whether the answer has a body', (text, isHead) => {
    const head = new HeadEnd(100)
    expect(head.take(Buffer.from(text))).toBe('whole')
    expect(head.isHead).toBe(isHead)
  })
})
