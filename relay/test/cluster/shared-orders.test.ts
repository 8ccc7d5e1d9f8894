// Orders at an ACME authority on several machines: one budget, one order of a site at a time, proofs at each of them.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test as every, expect, vi } from 'vitest'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLog } from '../../src/core/log/log.ts'
import { OrderBudget } from '../../src/features/acme/budget.ts'
import { ORDER_DEADLINE_MS } from '../../src/features/acme/limits.ts'
import type { PublishedProof } from '../../src/features/acme/order-sharing.ts'
import type { Prover } from '../../src/features/acme/proofs.ts'
import { SharedProofs } from '../../src/features/acme/shared-proofs.ts'
import { AcmeIssuer } from '../../src/features/site-certificates/acme-issuer.ts'
import { SITE_ORDER_ELSEWHERE_POLL_S } from '../../src/features/site-certificates/limits.ts'
import { OrdersElsewhere } from '../../src/features/site-certificates/orders-elsewhere.ts'
import { whyNoRedis } from '../support/cluster-relays.ts'
import { type OrderMachine, type OrderMachines, startOrderMachines } from '../support/order-machines.ts'
import { HeldAuthority, Sites } from '../support/site-orders.ts'

const test = wholeOnly(every, 'variant')

const WAIT = { timeout: 30_000 }
const log = createLog('silent')
const ROOT = { for: 'root' as const, names: ['relay.test'] }

let redis: Redis
let machines: OrderMachines
let a: OrderMachine
let b: OrderMachine

describe.skipIf(whyNoRedis() !== undefined)(`two machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    machines = await startOrderMachines(redis, `${randomUUID()}.example`)
    ;({ a, b } = machines)
  })
  afterEach(() => machines.close())
  afterAll(() => redis?.stop())

  describe('have one budget', () => {
    const rates = { ordersPerHour: 3, certificatesPerWeek: 100 }
    const open = ({ directory, sharing }: OrderMachine): Promise<OrderBudget> =>
      OrderBudget.open({ directory, sharing, rates, log, random: () => 0 })

    test('from which each takes', async () => {
      const [here, there] = [await open(a), await open(b)]
      await here.take({ ...ROOT })
      await there.take({ ...ROOT })
      await here.take({ ...ROOT })
      await expect(there.take({ ...ROOT })).rejects.toMatchObject({ fault: 'rate_limited' })
      await expect(here.take({ ...ROOT })).rejects.toMatchObject({ fault: 'rate_limited' })
    })

    test('with the pauses after failures', async () => {
      const [here, there] = [await open(a), await open(b)]
      const order = { ...ROOT }
      await here.take(order)
      await here.failed(order, new Error('nobody answers'))
      await expect(there.take({ ...ROOT })).rejects.toThrow(/the last order failed \(nobody answers\)/)
      await there.succeeded({ ...ROOT })
      await here.take({ ...ROOT })
    })

    test('that also orders at the same time do not exceed', async () => {
      const budgets = [await open(a), await open(b)]
      const taken = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => budgets[index % 2]!.take({ ...ROOT })),
      )
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    })

    test('from which nothing is taken while Redis does not answer', async () => {
      const here = await open(a)
      const order = { ...ROOT }
      await here.take(order)
      await redis.kill()
      try {
        await expect(here.take({ ...ROOT })).rejects.toMatchObject({ fault: 'unreachable' })
        await here.succeeded(order)
      } finally {
        await redis.restart()
      }
      await vi.waitFor(() => here.take({ ...ROOT }), WAIT)
    })
  })

  describe('make one order for a site', () => {
    let sites: Sites
    let authority: HeldAuthority
    const issuers: AcmeIssuer[] = []

    const open = (
      { directory, sharing }: OrderMachine,
      acmeDirectory = 'https://ca.example/dir',
    ): AcmeIssuer => {
      const statuses = { failed: () => {}, succeeded: () => {} }
      const issuer = new AcmeIssuer({
        issued: () => {},
        authority,
        directory,
        acmeDirectory,
        mayHave: () => true,
        statuses,
        elsewhere: (keep) => new OrdersElsewhere({ sharing, acmeDirectory, keep, log }),
        log,
      })
      issuers.push(issuer)
      return issuer
    }
    const ordered = (): Promise<void> =>
      vi.waitFor(() => {
        expect(authority.orders.length).toBeGreaterThan(0)
      }, WAIT)

    beforeEach(() => {
      sites = new Sites()
      authority = new HeldAuthority(sites.requests)
    })
    afterEach(() => Promise.all(issuers.splice(0).map((issuer) => issuer.close())))

    test('that asks both of them, and both have the chain', async () => {
      const [here, there] = [open(a), open(b)]
      const lease = sites.lease('demo')
      const request = sites.request(lease)
      await here.issue(request, lease)
      await ordered()
      expect(there.knows(lease.identityKey)).toBe(true)
      expect(await there.find(request, lease)).toEqual({ retryAfterS: SITE_ORDER_ELSEWHERE_POLL_S })
      authority.orders[0]!.issue()
      const chains = await vi.waitFor(async () => {
        const found = [await here.find(request, lease), await there.find(request, lease)]
        for (const one of found) expect(one).toHaveProperty('chain')
        return found
      }, WAIT)
      expect(chains[0]).toEqual(chains[1])
      expect(authority.orders).toHaveLength(1)
    })

    test('that is ordered at both, of which the later one takes what the first one gets', async () => {
      const [here, there] = [open(a), open(b)]
      const lease = sites.lease('demo')
      const request = sites.request(lease)
      await Promise.all([here.issue(request, lease), there.issue(request, lease)])
      await ordered()
      authority.orders[0]!.issue()
      for (const issuer of [here, there])
        await vi.waitFor(async () => expect(await issuer.find(request, lease)).toHaveProperty('chain'), WAIT)
      expect(authority.orders).toHaveLength(1)
    })

    test('and a machine that was away finds its chain later, unless it is of another authority', async () => {
      const here = open(a)
      const lease = sites.lease('demo')
      const request = sites.request(lease)
      await here.issue(request, lease)
      await ordered()
      authority.orders[0]!.issue()
      await vi.waitFor(async () => expect(await here.find(request, lease)).toHaveProperty('chain'), WAIT)
      expect(await open(b, 'https://other.example/dir').find(request, lease)).toBeUndefined()
      const there = open(b)
      await vi.waitFor(async () => expect(await there.find(request, lease)).toHaveProperty('chain'), WAIT)
    })
  })

  describe('show a proof', () => {
    const shown = new Set<string>()
    const hidden: string[] = []

    const proverOf = (type: Prover['type'], where: string): Prover => ({
      type,
      show: async (name, value) => {
        shown.add(`${where} ${name} ${value}`)
        return async () => {
          shown.delete(`${where} ${name} ${value}`)
          hidden.push(`${where} ${name} ${value}`)
        }
      },
    })
    const open = ({ sharing }: OrderMachine, where: string, type: Prover['type']): Prover => {
      const told = proverOf(type, `told ${where}`)
      return new SharedProofs({ sharing, provers: [told], log }).share(proverOf(type, where))
    }
    const { signal } = new AbortController()

    beforeEach(() => {
      shown.clear()
      hidden.length = 0
    })

    test.each(['tls-alpn-01', 'dns-01'] as const)('by %s at both, and take it away at both', async (type) => {
      const here = open(a, 'a', type)
      open(b, 'b', type)
      const hide = await here.show('relay.test', 'proof', signal)
      expect([...shown]).toEqual(['a relay.test proof', 'told b relay.test proof'])
      await hide()
      await vi.waitFor(() => expect([...shown]).toEqual([]))
    })

    test('in place of one that its machine did not take away; two records stay beside each other', async () => {
      const names = open(a, 'a', 'tls-alpn-01')
      open(b, 'b', 'tls-alpn-01')
      await names.show('relay.test', 'left', signal)
      await names.show('relay.test', 'next', signal)
      await vi.waitFor(() =>
        expect([...shown].filter((one) => one.startsWith('told'))).toEqual(['told b relay.test next']),
      )
      shown.clear()
      const records = open(a, 'a', 'dns-01')
      open(b, 'b', 'dns-01')
      await records.show('relay.test', 'one', signal)
      await records.show('relay.test', 'two', signal)
      expect([...shown].filter((one) => one.startsWith('told'))).toHaveLength(2)
    })

    test('no longer than an order takes, where its machine dies', async () => {
      vi.useFakeTimers()
      try {
        let tell: (proof: PublishedProof) => void = () => {}
        const sharing = {
          publishProof: async () => {},
          onProof: (listener: typeof tell) => {
            tell = listener
          },
        }
        new SharedProofs({ sharing, provers: [proverOf('tls-alpn-01', 'told')], log })
        tell({ type: 'tls-alpn-01', name: 'relay.test', keyAuthorization: 'proof', isShown: true })
        await vi.advanceTimersByTimeAsync(ORDER_DEADLINE_MS - 1)
        expect(shown.size).toBe(1)
        await vi.advanceTimersByTimeAsync(1)
        expect(shown.size).toBe(0)
      } finally {
        vi.useRealTimers()
      }
    })
  })
})
