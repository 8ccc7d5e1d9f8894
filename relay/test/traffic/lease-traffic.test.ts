// The traffic of leases: sums by the hour, bytes per second, and a memory that no site can fill.

import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Lease } from '../../src/core/lease/lease.ts'
import { LeaseTraffic, TRAFFIC_IDENTITIES_MAX } from '../../src/core/traffic/lease-traffic.ts'
import { TrafficChanges } from '../../src/core/traffic/traffic-changes.ts'
import {
  addMark,
  countVisitors,
  markOf,
  newSketchKey,
  SKETCH_BYTES,
  unionOf,
} from '../../src/core/traffic/visitor-sketch.ts'

const HOUR_MS = 3_600_000
/** Begins with an hour. */
const START = 1_000 * HOUR_MS

function leaseOf(name: string, registeredFrom = '192.0.2.1'): Lease {
  return { identityKey: `${name}:0x1`, registeredFrom } as Lease
}

function networks(count: number): string[] {
  return Array.from(
    { length: count },
    () => `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`,
  )
}

describe('a sketch of visitors', () => {
  const key = newSketchKey()
  const sketchOf = (marks: Iterable<number>): Uint8Array => {
    const sketch = new Uint8Array(SKETCH_BYTES)
    for (const mark of marks) addMark(sketch, mark)
    return sketch
  }

  test.each([0, 1, 2, 10, 100, 1_000, 20_000])('estimates %i networks', (count) => {
    const marks = Array.from({ length: count }, (_, number) => markOf(key, `network ${number}`))
    const estimate = countVisitors(sketchOf([...marks, ...marks]))
    // Four times the standard error.
    expect(Math.abs(estimate - count)).toBeLessThanOrEqual(Math.max(1, 0.37 * count))
  })

  test('has nothing of a network without its key', () => {
    const network = '198.51.100.7'
    const marks = Array.from({ length: 64 }, () => markOf(newSketchKey(), network))
    expect(new Set(marks).size).toBeGreaterThan(16)
    expect(Buffer.from(sketchOf(marks)).toString('latin1')).not.toContain(network)
  })

  test('of several reports is that of all their visitors', () => {
    const marks = networks(500).map((network) => markOf(key, network))
    const union = unionOf(marks)
    expect(union.length).toBeLessThanOrEqual(SKETCH_BYTES)
    expect(sketchOf(union)).toEqual(sketchOf(marks))
  })
})

describe('the traffic of a relay', () => {
  let time: number
  let traffic: LeaseTraffic
  beforeEach(() => {
    time = START
    traffic = new LeaseTraffic({ now: () => time })
  })
  afterEach(() => traffic.close())

  const demo = leaseOf('demo')
  const of = ({ identityKey }: Lease) => traffic.of(identityKey)

  test('is nothing before the first visitor, and 24 hours without one', () => {
    expect(of(demo)).toBeUndefined()
    const hours = traffic.hoursOf(demo.identityKey)
    expect(hours).toHaveLength(24)
    expect(hours.every(({ connections, visitors }) => connections + visitors === 0)).toBe(true)
    expect(traffic.size).toBe(0)
  })

  test('counts what connections carry, also while they are open', () => {
    const one = traffic.connect(demo, '192.0.2.1', true)
    const two = traffic.connect(demo, '192.0.2.1', true)
    const three = traffic.connect(demo, '2001:db8:0:1', true)
    one.carry(100, 1_000)
    two.carry(10, 20)
    expect(of(demo)).toMatchObject({
      open_connections: 3,
      day: { received_bytes: 110, sent_bytes: 1_020, connections: 3, visitors: 2 },
    })
    for (const each of [one, two, three]) each.end()
    one.carry(1, 0)
    expect(of(demo)).toMatchObject({ open_connections: 0, day: { received_bytes: 111 } })
    expect(traffic.all).toMatchObject({ open_connections: 0, day: { received_bytes: 111, visitors: 2 } })
  })

  test('has the bytes of each hour, and forgets those of yesterday', () => {
    const connection = traffic.connect(demo, '192.0.2.1', true)
    connection.carry(1, 2)
    time += HOUR_MS
    connection.carry(10, 20)
    traffic.connect(demo, '192.0.2.9', true).end()
    expect(traffic.hoursOf(demo.identityKey).slice(-2)).toEqual([
      { at: expect.any(String), received_bytes: 1, sent_bytes: 2, connections: 1, visitors: 1 },
      { at: expect.any(String), received_bytes: 10, sent_bytes: 20, connections: 1, visitors: 1 },
    ])
    expect(of(demo)?.day).toEqual({ received_bytes: 11, sent_bytes: 22, connections: 2, visitors: 2 })
    time += 23 * HOUR_MS
    expect(of(demo)?.day).toEqual({ received_bytes: 10, sent_bytes: 20, connections: 1, visitors: 1 })
    time += 40 * HOUR_MS
    expect(of(demo)?.day).toEqual({ received_bytes: 0, sent_bytes: 0, connections: 0, visitors: 0 })
    connection.end()
    expect(of(demo)).toBeUndefined()
  })

  test('has the bytes per second of the last samples', () => {
    const connection = traffic.connect(demo, '192.0.2.1', true)
    traffic.onSample(() => connection.carry(2_000, 4_000))
    const sample = (times: number): void => {
      for (let at = 0; at < times; at++) {
        time += 2_000
        traffic.sample()
      }
    }
    sample(1)
    expect(of(demo)).toMatchObject({ received_bps: 1_000, sent_bps: 2_000 })
    sample(20)
    expect(of(demo)).toMatchObject({ received_bps: 1_000, sent_bps: 2_000 })
    const silent = leaseOf('silent')
    traffic.connect(silent, undefined, true).carry(5_000, 0)
    sample(1)
    expect(of(silent)).toMatchObject({ received_bps: 500, sent_bps: 0 })
    sample(5)
    expect(of(silent)).toMatchObject({ received_bps: 0, open_connections: 1 })
  })

  test('keeps an identity for a day after its last visitor, and no longer', () => {
    traffic.connect(demo, '192.0.2.1', true).end()
    time += 23 * HOUR_MS
    traffic.sample()
    expect(of(demo)?.day.connections).toBe(1)
    time += HOUR_MS
    traffic.sample()
    expect(traffic.size).toBe(0)
  })

  test('keeps no source without open connections, as the UDP port of a lease that has ended', () => {
    for (let ports = 0; ports < 3; ports++) {
      const port = {}
      traffic.setOpen(port, demo, 2)
      expect(traffic.sources).toBe(1)
      traffic.setOpen(port, demo, 0)
      traffic.setOpen({}, demo, 0)
    }
    expect(traffic.sources).toBe(0)
    expect(of(demo)).toBeUndefined()
  })

  test('adds what other processes and machines count, and forgets the open connections of those that end', () => {
    const worker = {}
    const change = { received: 5, sent: 6, connections: 2, open: 2, marks: [markOf(traffic.key, 'a')] }
    traffic.merge(worker, demo, change)
    traffic.mergeElsewhere('b:1', demo, { ...change, open: 3 })
    expect(of(demo)).toMatchObject({
      open_connections: 5,
      day: { received_bytes: 10, sent_bytes: 12, connections: 4, visitors: 1 },
    })
    traffic.lost(worker)
    expect(of(demo)?.open_connections).toBe(3)
    traffic.lost('b:1', true)
    expect(of(demo)?.open_connections).toBe(0)
    expect(traffic.all.open_connections).toBe(0)
  })

  test('tells other machines what it has counted itself, once', () => {
    traffic.share()
    traffic.mergeElsewhere('b:1', demo, { received: 5, sent: 6, connections: 2, open: 2, marks: [] })
    expect(traffic.takeUntold()).toEqual([])
    const connection = traffic.connect(demo, '192.0.2.1', true)
    connection.carry(1, 2)
    connection.carry(1, 2)
    expect(traffic.takeUntold()).toEqual([
      [
        demo.identityKey,
        { received: 2, sent: 4, connections: 1, open: 1, marks: [markOf(traffic.key, '192.0.2.1')] },
      ],
    ])
    const nothing = { received: 0, sent: 0, connections: 0, marks: [] }
    expect(traffic.takeUntold()).toEqual([[demo.identityKey, { ...nothing, open: 1 }]])
    connection.end()
    expect(traffic.takeUntold()).toEqual([[demo.identityKey, { ...nothing, open: 0 }]])
    expect(traffic.takeUntold()).toEqual([])
  })

  test('is counted in another process with the same result', () => {
    const changes = new TrafficChanges(traffic.key)
    const connection = changes.connect(demo, '192.0.2.1', true)
    changes.connect(demo, '192.0.2.1', false).end()
    connection.carry(7, 8)
    const report = (): void => {
      for (const [lease, change] of changes.take()) traffic.merge(changes, lease, change)
    }
    report()
    expect(of(demo)).toMatchObject({
      open_connections: 1,
      day: { received_bytes: 7, sent_bytes: 8, connections: 1, visitors: 1 },
    })
    report()
    expect(of(demo)?.open_connections).toBe(1)
    connection.carry(1, 1)
    connection.end()
    report()
    expect(of(demo)).toMatchObject({ open_connections: 0, day: { received_bytes: 8, connections: 1 } })
    expect(changes.take()).toEqual([])
  })

  test('of as many identities as there may be takes a bounded memory, in which one network does not have all', () => {
    const max = 64
    const small = new LeaseTraffic({ now: () => time, identitiesMax: max })
    for (let number = 0; number < 10 * max; number++)
      small.connect(leaseOf(`hostile-${number}`, '203.0.113.1'), '192.0.2.1', true).end()
    expect(small.size).toBeLessThan(max)
    const honest = leaseOf('honest', '198.51.100.1')
    small.connect(honest, '192.0.2.1', true).carry(1, 1)
    expect(small.of(honest.identityKey)).toBeDefined()
    // Those that are not known count in the sum.
    expect(small.all.day.connections).toBe(10 * max + 1)
    small.close()
    const before = process.memoryUsage().arrayBuffers
    for (let number = 0; number < 1_000; number++) {
      const lease = leaseOf(`site-${number}`, `198.51.${number >> 8}.${number & 255}`)
      for (const network of networks(20)) traffic.connect(lease, network, true).end()
    }
    const bytes = (process.memoryUsage().arrayBuffers - before) / traffic.size
    expect(traffic.size).toBe(1_000)
    expect(bytes * TRAFFIC_IDENTITIES_MAX).toBeLessThan(96 * 1024 * 1024)
  })
})
