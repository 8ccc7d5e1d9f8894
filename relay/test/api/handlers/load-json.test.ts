// The administrator's load: that of one machine, and of a relay on several machines the sums, each machine and Redis.

import { afterAll, expect, test } from 'vitest'
import { adminLoad } from '../../../src/core/api/endpoints/response-schemas.ts'
import { loadJson, type MeasuredLoad } from '../../../src/core/api/handlers/load-json.ts'
import { LeaseTraffic } from '../../../src/core/traffic/lease-traffic.ts'
import { clusterReadings, machineReading } from '../../support/cluster-readings.ts'

const OWN = { carriers: 2, readySessions: 1, visitors: 3, fromVisitors: 100, toVisitors: 1_000 }

const traffic = new LeaseTraffic()
afterAll(() => traffic.close())

/** The load of this machine, which has the figures of {@link OWN} and no lease. */
function loadOf(cluster: MeasuredLoad['cluster']) {
  const { carriers, visitors, fromVisitors, toVisitors } = OWN
  return loadJson({
    leases: new Set(),
    counters: { carriers },
    visitors: { size: visitors, traffic: { fromVisitors, toVisitors } },
    traffic,
    cluster,
  })
}

test('a relay on one machine says nothing of machines or of a Redis', () => {
  expect(loadOf(undefined)).toEqual({
    leases: 0,
    ready_sessions: 0,
    carriers: 2,
    visitor_connections: 3,
    visitor_received_bytes: 100,
    visitor_sent_bytes: 1_000,
    traffic: traffic.all,
  })
})

test('numbers are the sums over the machines that are not gone, and each machine has its own', () => {
  const other = { carriers: 20, readySessions: 10, visitors: 30, fromVisitors: 5, toVisitors: 7 }
  const load = loadOf(
    clusterReadings([
      machineReading({ ...OWN, address: 'a.test:7443', isThis: true }),
      machineReading({ ...other, address: 'b.test:7443', state: 'draining' }),
      machineReading({ ...other, address: 'c.test:7443', state: 'unreachable' }),
      machineReading({ ...other, address: 'd.test:7443', state: 'gone' }),
    ]),
  )
  expect(adminLoad.parse(load)).toEqual(load)
  const { machines = [], ...sums } = load
  expect(sums).toEqual({
    leases: 0,
    ready_sessions: 21,
    carriers: 42,
    visitor_connections: 63,
    visitor_received_bytes: 110,
    visitor_sent_bytes: 1_014,
    redis: 'up',
    traffic: traffic.all,
  })
  expect(machines.map(({ address, state, is_this }) => [address, state, is_this])).toEqual([
    ['a.test:7443', 'online', true],
    ['b.test:7443', 'draining', false],
    ['c.test:7443', 'unreachable', false],
    ['d.test:7443', 'gone', false],
  ])
  expect(machines[0]).toEqual({
    address: 'a.test:7443',
    release_version: '1.2.3',
    state: 'online',
    is_this: true,
    started_at: '2026-01-02T00:00:00.000Z',
    seen_at: '2026-01-03T00:00:00.000Z',
    carriers: 2,
    ready_sessions: 1,
    visitor_connections: 3,
    visitor_received_bytes: 100,
    visitor_sent_bytes: 1_000,
  })
})

test('a Redis that does not answer is down; the machines are those that were known', () => {
  const load = loadOf(clusterReadings([machineReading({ isThis: true })], { isRedisUp: false }))
  expect(load).toMatchObject({ redis: 'down', machines: [{ state: 'online' }] })
})
