// The orders of sites: one for each identity, a bounded number at once, fair to networks, and nothing for a site that the
// policy turns away meanwhile.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clockOrigin, setClockOrigin } from '../../../src/core/clock.ts'
import type { Lease } from '../../../src/core/lease/lease.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { AcmeError } from '../../../src/features/acme/authority.ts'
import { AcmeIssuer } from '../../../src/features/site-certificates/acme-issuer.ts'
import {
  SITE_FAILURES_MAX,
  SITE_ORDER_POLL_MAX_S,
  SITE_ORDERS_AT_ONCE,
  SITE_ORDERS_WAITING_MAX,
  SITE_ORDERS_WAITING_PER_NETWORK_MAX,
} from '../../../src/features/site-certificates/limits.ts'
import { HeldAuthority, newPublicKey, refusedByAuthority, Sites } from '../../support/site-orders.ts'

const WAIT = { timeout: 60_000 }
let directory: string
let sites: Sites
let authority: HeldAuthority
let rejected: Set<Lease>
let lastError: string | undefined
let logged: Record<string, unknown>[]
let issuer: AcmeIssuer

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-acme-issuer-'))
  sites = new Sites()
  authority = new HeldAuthority(sites.requests)
  rejected = new Set()
  lastError = undefined
  logged = []
  issuer = newIssuer()
})
afterEach(async () => {
  await issuer.close()
  await rm(directory, { recursive: true })
})

function newIssuer(): AcmeIssuer {
  const mayHave = (lease: Lease): boolean => !rejected.has(lease)
  const statuses = {
    failed: (_: string, error: unknown) => {
      lastError = (error as Error).message
    },
    succeeded: () => {
      lastError = undefined
    },
  }
  const log = createLog('warn', { write: (line: string) => void logged.push(JSON.parse(line)) })
  return new AcmeIssuer({
    issued: () => {},
    authority,
    directory,
    acmeDirectory: 'https://ca.example/dir',
    mayHave,
    statuses,
    log,
  })
}

const orderedNames = (): string[] => authority.orders.map(({ names }) => names[0]!.split('.')[0]!)
/** Issues an order, and waits until its chain is there. */
async function issued(name: string, request: ReturnType<Sites['request']>, lease: Lease): Promise<string> {
  await vi.waitFor(() => expect(orderedNames()).toContain(name), WAIT)
  authority.orders[orderedNames().lastIndexOf(name)]!.issue()
  return await vi.waitFor(async () => {
    const answer = await issuer.find(request, lease)
    expect(answer).toHaveProperty('chain')
    return (answer as { chain: string }).chain
  }, WAIT)
}

describe('a site', () => {
  test('is told to ask again while its order is under way, and gets its chain', async () => {
    const lease = sites.lease('demo')
    const request = sites.request(lease)
    expect(issuer.knows(lease.identityKey)).toBe(false)
    expect(await issuer.find(request, lease)).toBeUndefined()
    expect(await issuer.issue(request, lease)).toEqual({ retryAfterS: 1 })
    expect(issuer.knows(lease.identityKey)).toBe(true)
    expect(await issuer.find(request, lease)).toEqual({ retryAfterS: 1 })
    const [order] = authority.orders
    expect(order).toMatchObject({ for: 'site', identityKey: lease.identityKey, renews: false })
    expect(order!.csr).toBe(request.der)
    expect(await issued('demo', request, lease)).toMatch(/^-----BEGIN CERTIFICATE-----/)
    expect(authority.orders).toHaveLength(1)
    expect(issuer.summary).toEqual({
      count: 1,
      names: request.names.toSorted(),
      notAfter: expect.any(Number),
    })
  })

  test('asks less and less often, the longer its order takes', async () => {
    const lease = sites.lease('demo')
    const request = sites.request(lease)
    await issuer.issue(request, lease)
    const origin = clockOrigin()
    try {
      for (const [waitedS, retryAfterS] of [
        [10, 3],
        [60, 15],
        [600, SITE_ORDER_POLL_MAX_S],
      ] as const) {
        setClockOrigin(origin + waitedS * 1000 - 500)
        expect(await issuer.find(request, lease)).toEqual({ retryAfterS })
      }
    } finally {
      setClockOrigin(origin)
    }
  })

  test('that comes back gets the same chain, also from another process, and another key makes an order', async () => {
    const lease = sites.lease('demo')
    const request = sites.request(lease)
    await issuer.issue(request, lease)
    const chain = await issued('demo', request, lease)
    await issuer.close()
    issuer = newIssuer()
    const again = sites.lease('demo')
    expect(await issuer.find(sites.request(again, request.publicKey), again)).toEqual({ chain })
    const other = sites.request(again)
    expect(await issuer.find(other, again)).toBeUndefined()
    await issuer.issue(other, again)
    expect(authority.orders.at(-1)).toMatchObject({ renews: true })
    // The chain of the former key stays until there is another.
    expect(await issuer.find(request, again)).toEqual({ chain })
  })

  test('that asks with another key while its order is under way has one order, and then another', async () => {
    const lease = sites.lease('demo')
    await issuer.issue(sites.request(lease), lease)
    const second = sites.request(lease)
    for (const request of [second, sites.request(lease), second]) {
      expect(await issuer.find(request, lease)).toEqual({ retryAfterS: 1 })
      expect(await issuer.issue(request, lease)).toEqual({ retryAfterS: 1 })
    }
    expect(authority.orders).toHaveLength(1)
    expect(authority.orders[0]!.signal!.aborted).toBe(false)
    authority.orders[0]!.issue()
    await vi.waitFor(async () => expect(await issuer.find(second, lease)).toBeUndefined(), WAIT)
    await issuer.issue(second, lease)
    await issued('demo', second, lease)
    expect(authority.orders).toHaveLength(2)
  })

  test('that asks with another key before its turn has one order, with the newer key', async () => {
    for (let i = 0; i < SITE_ORDERS_AT_ONCE; i++) {
      const busy = sites.lease(`busy${i}`)
      await issuer.issue(sites.request(busy), busy)
    }
    const lease = sites.lease('demo')
    await issuer.issue(sites.request(lease), lease)
    const second = sites.request(lease)
    expect(await issuer.find(second, lease)).toEqual({ retryAfterS: 1 })
    authority.orders[0]!.issue()
    await issued('demo', second, lease)
    expect(orderedNames().filter((name) => name === 'demo')).toHaveLength(1)
  })

  test('whose lease has ended before its turn makes no order', async () => {
    const busy = Array.from({ length: SITE_ORDERS_AT_ONCE }, (_, i) => sites.lease(`busy${i}`))
    for (const lease of busy) await issuer.issue(sites.request(lease), lease)
    const gone = sites.lease('gone')
    const [request, next] = [sites.request(gone), sites.lease('next')]
    await issuer.issue(request, gone)
    await issuer.issue(sites.request(next), next)
    gone.end('unregistered')
    authority.orders[0]!.issue()
    await vi.waitFor(() => expect(orderedNames()).toContain('next'), WAIT)
    expect(orderedNames()).not.toContain('gone')
    expect(issuer.knows(gone.identityKey)).toBe(false)
  })

  test.each(['waits', 'is under way'])(
    'that the policy rejects while its order %s gets nothing',
    async (state) => {
      const busy = state === 'waits' ? SITE_ORDERS_AT_ONCE : 0
      for (let i = 0; i < busy; i++) {
        const lease = sites.lease(`busy${i}`)
        await issuer.issue(sites.request(lease), lease)
      }
      const lease = sites.lease('demo')
      const request = sites.request(lease)
      await issuer.issue(request, lease)
      rejected.add(lease)
      issuer.recheck()
      for (const order of [...authority.orders]) order.issue()
      await vi.waitFor(() => expect(issuer.summary.count).toBe(busy), WAIT)
      expect(issuer.knows(lease.identityKey)).toBe(false)
      expect(await issuer.find(request, lease)).toBeUndefined()
      // Memory has a chain before its file is written.
      await issuer.close()
      expect(await readdir(join(directory, 'sites')).catch(() => [])).toHaveLength(busy)
    },
  )
})

describe('an order that fails', () => {
  const failed = async (error: Error): Promise<unknown> => {
    const lease = sites.lease('demo')
    const request = sites.request(lease)
    await issuer.issue(request, lease)
    authority.orders[0]!.fail(error)
    return await vi.waitFor(async () => {
      const reason = await issuer.find(request, lease).catch((reason) => reason)
      expect(reason).toBeInstanceOf(Error)
      return reason
    }, WAIT)
  }

  test.each([
    ['refused', refusedByAuthority(90_000), 'feature_unavailable', /a CAA record forbids it/, '90'],
    [
      'over the budget',
      new AcmeError('rate_limited', 'enough', { retryAfterMs: 5_000 }),
      'rate_limited',
      /enough/,
      '5',
    ],
    ['without a time', refusedByAuthority(), 'feature_unavailable', /CAA/, '60'],
    ['for years', refusedByAuthority(1e12), 'feature_unavailable', /CAA/, '43200'],
    ['by a fault of ours', new TypeError('oops'), 'feature_unavailable', /oops/, '60'],
  ])('%s says why, and when to ask again', async (_, error, code, message, retryAfter) => {
    expect(await failed(error)).toMatchObject({
      code,
      message: expect.stringMatching(message),
      headers: { 'Retry-After': retryAfter },
    })
    expect(lastError).toMatch(message)
    expect(logged).toEqual([
      expect.objectContaining({
        hostname: 'demo.relay.example.com',
        error: expect.stringMatching(message),
        nextTryInS: Number(retryAfter),
      }),
    ])
    expect(authority.orders).toHaveLength(1)
  })

  test('makes way for another one after that time', async () => {
    await failed(refusedByAuthority(1))
    const lease = sites.lease('demo')
    const request = sites.request(lease)
    await vi.waitFor(async () => expect(await issuer.find(request, lease)).toBeUndefined(), WAIT)
    await issuer.issue(request, lease)
    await issued('demo', request, lease)
    expect(lastError).toBeUndefined()
  })

  test('of many sites takes bounded memory: the oldest is forgotten first', async () => {
    for (let i = 0; i <= SITE_FAILURES_MAX; i++) {
      const lease = sites.lease(`demo${i}`)
      await issuer.issue(sites.request(lease), lease)
      authority.orders[i]!.fail(refusedByAuthority(1e9))
      // The next one finds a free place.
      await new Promise(setImmediate)
    }
    expect(issuer.knows(sites.lease('demo0').identityKey)).toBe(false)
    expect(issuer.knows(sites.lease('demo1').identityKey)).toBe(true)
  })
})

describe('a crowd', () => {
  /** Sites of one network, of which this many are under way and the others wait. */
  const crowd = async (ip: string, count: number, prefix = 'c'): Promise<Lease[]> => {
    const leases = Array.from({ length: count }, (_, i) => sites.lease(`${prefix}${i}`, ip))
    for (const lease of leases) await issuer.issue(sites.request(lease), lease)
    return leases
  }

  test('of one network waits for itself: a site of another is next', async () => {
    await crowd('192.0.2.1', SITE_ORDERS_AT_ONCE + SITE_ORDERS_WAITING_PER_NETWORK_MAX)
    const refused = sites.lease('refused', '192.0.2.1')
    await expect(issuer.issue(sites.request(refused), refused)).rejects.toMatchObject({
      code: 'rate_limited',
      headers: { 'Retry-After': '30' },
    })
    const alone = sites.lease('alone', '198.51.100.1')
    await issuer.issue(sites.request(alone), alone)
    expect(authority.orders).toHaveLength(SITE_ORDERS_AT_ONCE)
    authority.orders[0]!.issue()
    authority.orders[1]!.issue()
    await vi.waitFor(() => expect(orderedNames()).toContain('alone'), WAIT)
    expect(authority.orders.length).toBeLessThanOrEqual(SITE_ORDERS_AT_ONCE + 2)
  })

  test('of many networks is bounded, and a site that renews goes before it', async () => {
    const renewing = sites.lease('renews', '198.51.100.1')
    const first = sites.request(renewing)
    await issuer.issue(first, renewing)
    await issued('renews', first, renewing)
    for (let i = 0; i < SITE_ORDERS_AT_ONCE + SITE_ORDERS_WAITING_MAX; i++)
      await crowd(`2001:db8:${i.toString(16)}::1`, 1, `m${i}x`)
    const late = sites.lease('late', '203.0.113.1')
    await expect(issuer.issue(sites.request(late), late)).rejects.toMatchObject({ code: 'rate_limited' })
    await issuer.issue(sites.request(renewing, newPublicKey()), renewing)
    authority.orders[1]!.issue()
    await vi.waitFor(() => expect(authority.orders.length).toBe(1 + SITE_ORDERS_AT_ONCE + 1), WAIT)
    expect(orderedNames().at(-1)).toBe('renews')
  })

  test('that has left makes room', async () => {
    const leases = await crowd('192.0.2.1', SITE_ORDERS_AT_ONCE + SITE_ORDERS_WAITING_PER_NETWORK_MAX)
    for (const lease of leases) lease.end('expired')
    const next = sites.lease('next', '192.0.2.1')
    expect(await issuer.issue(sites.request(next), next)).toEqual({ retryAfterS: 1 })
  })
})
