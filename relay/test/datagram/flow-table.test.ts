// The flow table of a UDP port: ids, room and idleness.

import { beforeEach, describe, expect, test } from 'vitest'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { FlowTable } from '../../src/features/datagrams/flow-table.ts'

const IDLE_MS = 5 * 60_000

let now: number
let counters: RelayCounters
beforeEach(() => {
  now = 1_000_000
  counters = new RelayCounters()
})

const table = (bounds: { perPort?: number; all?: number; firstId?: number } = {}) =>
  new FlowTable(counters, () => () => true, { ...bounds, now: () => now })

describe('ids', () => {
  test('go from 1 up, one for each address and port, which keeps it (protocol §12.2.1)', () => {
    const flows = table()
    expect(flows.onReceived('192.0.2.1', 1000, 0)?.id).toBe(1)
    expect(flows.onReceived('192.0.2.1', 1001, 0)?.id).toBe(2)
    expect(flows.onReceived('192.0.2.2', 1000, 0)?.id).toBe(3)
    expect(flows.onReceived('192.0.2.1', 1000, 0)?.id).toBe(1)
    expect(flows.find(2)).toMatchObject({ address: '192.0.2.1', port: 1001 })
    expect(flows.find(4)).toBeUndefined()
  })

  test('begin again behind 2^32 - 1, and skip those in use', () => {
    const flows = table({ firstId: 2 ** 32 - 1 })
    expect(flows.onReceived('192.0.2.1', 1, 0)?.id).toBe(2 ** 32 - 1)
    expect(flows.onReceived('192.0.2.1', 2, 0)?.id).toBe(1)
    const again = table({ firstId: 1 })
    again.onReceived('192.0.2.1', 1, 0)
    expect(again.onReceived('192.0.2.1', 2, 0)?.id).toBe(2)
  })
})

describe('idleness', () => {
  test('5 minutes without a datagram either way end a flow, and its id is not used again (protocol §12.2.2)', () => {
    const flows = table()
    const flow = flows.onReceived('192.0.2.1', 1, 0)!
    now += IDLE_MS - 1
    flows.sweep()
    expect(flows.find(1)).toBe(flow)
    now += 1
    flows.sweep()
    expect(flows.find(1)).toBeUndefined()
    expect(counters.flows).toBe(0)
    expect(flows.onReceived('192.0.2.1', 1, 0)?.id).toBe(2)
  })

  test('a datagram of either side keeps it, and the others still end', () => {
    const flows = table()
    const kept = flows.onReceived('192.0.2.1', 1, 0)!
    const answered = flows.onReceived('192.0.2.1', 2, 0)!
    flows.onReceived('192.0.2.1', 3, 0)
    now += IDLE_MS - 1
    flows.onReceived('192.0.2.1', 1, 0)
    flows.spend(answered, 0)
    now += 1
    flows.sweep()
    expect([1, 2, 3].map((id) => flows.find(id))).toEqual([kept, answered, undefined])
  })
})

describe('room', () => {
  test('a table that is full of live flows takes no more, and those that are there pass', () => {
    const flows = table({ perPort: 2 })
    flows.onReceived('192.0.2.1', 1, 0)
    flows.onReceived('192.0.2.1', 2, 0)
    now += 9_999
    expect(flows.onReceived('192.0.2.1', 3, 0)).toBeUndefined()
    expect(flows.onReceived('192.0.2.1', 2, 0)?.id).toBe(2)
    expect(flows.size).toBe(2)
  })

  test('one that was silent for 10 s makes room, the most silent first', () => {
    const flows = table({ perPort: 2 })
    flows.onReceived('192.0.2.1', 1, 0)
    flows.onReceived('192.0.2.1', 2, 0)
    flows.onReceived('192.0.2.1', 1, 0)
    now += 10_000
    expect(flows.onReceived('192.0.2.1', 3, 0)?.id).toBe(3)
    expect(flows.find(2)).toBeUndefined()
    expect(flows.find(1)).toBeDefined()
  })

  test('all tables together have a bound, too, and give back what they had', () => {
    const [one, other] = [table({ all: 2 }), table({ all: 2 })]
    one.onReceived('192.0.2.1', 1, 0)
    one.onReceived('192.0.2.1', 2, 0)
    expect(other.onReceived('192.0.2.1', 3, 0)).toBeUndefined()
    one.clear()
    expect(counters.flows).toBe(0)
    expect(other.onReceived('192.0.2.1', 3, 0)).toBeDefined()
  })

  test('10,000 flows cost at most 2 KB each', () => {
    const flows = table()
    const before = process.memoryUsage().heapUsed
    for (let port = 1; port <= 10_000; port += 1)
      flows.onReceived('2001:db8:1234:5678:9abc:def0:1234:5678', port, 0)
    expect(flows.size).toBe(10_000)
    expect((process.memoryUsage().heapUsed - before) / 10_000).toBeLessThan(2048)
  })
})

test('what an IP address has shown is forgotten with its last flow', () => {
  const flows = table()
  const ask = (port: number): boolean => {
    const flow = flows.onReceived('192.0.2.1', port, 1)!
    const isAnswered = flows.spend(flow, port > 8 ? 100 : 1)
    now += 60
    return isAnswered
  }
  for (let port = 1; port <= 9; port += 1) expect(ask(port)).toBe(true)
  now += IDLE_MS
  flows.sweep()
  expect(flows.size).toBe(0)
  expect(ask(10)).toBe(false)
})

test('what is sent to a visitor is bounded by what came from it', () => {
  const flows = table()
  const flow = flows.onReceived('192.0.2.1', 1, 100)!
  expect(flows.spend(flow, 301)).toBe(false)
  expect(flows.spend(flow, 300)).toBe(true)
  flows.onReceived('192.0.2.2', 1, 100)
  expect(flows.spend(flow, 1)).toBe(false)
})
