// Metrics of a relay on several machines: what each of them says of the whole.

import { expect, test } from 'vitest'
import type { ClusterReadings } from '../../src/core/metrics/cluster-readings.ts'
import { Metrics } from '../../src/core/metrics/metrics.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { registerRelayMetrics } from '../../src/core/metrics/relay-metrics.ts'
import { registerClusterMetrics } from '../../src/features/cluster/metrics.ts'
import { clusterReadings, machineReading } from '../support/cluster-readings.ts'
import { type Family, parseExposition } from '../support/exposition.ts'

type Scrape = () => Promise<Map<string, Family>>

function exposing(cluster: ClusterReadings | undefined): Scrape {
  const nothing = (): number => 0
  const metrics = new Metrics()
  registerRelayMetrics(metrics, new RelayCounters(), {
    silentConnections: nothing,
    leases: nothing,
    readySessions: nothing,
    visitors: () => 3,
    traffic: () => ({ fromVisitors: 0, toVisitors: 0 }),
    unwritableFiles: nothing,
    writeFailures: nothing,
    certificateExpiries: () => [],
    acmeOrders: [],
  })
  if (cluster) registerClusterMetrics(metrics, cluster)
  return async () => parseExposition(await metrics.text())
}

/** The samples of one family, without the prefix of its name. */
function samplesOf(families: Map<string, Family>, name: string): Record<string, number> {
  const { samples } = families.get(`svc_relay_${name}`)!
  return Object.fromEntries([...samples].map(([key, value]) => [key.slice('svc_relay_'.length), value]))
}

test('a relay on one machine has no metric of a cluster', async () => {
  const names = [...(await exposing(undefined)()).keys()]
  expect(names.filter((name) => name.includes('cluster'))).toEqual([])
})

test('machines are counted by state, and each that is not gone has its figures', async () => {
  const machines = [
    machineReading({ address: 'a.test:7443', isThis: true, visitors: 3, carriers: 2 }),
    machineReading({ address: 'b.test:7443', visitors: 40, carriers: 20 }),
    machineReading({ address: 'c.test:7443', state: 'draining', visitors: 1 }),
    machineReading({ address: 'd.test:7443', state: 'unreachable', visitors: 5, carriers: 5 }),
  ]
  const scrape = exposing(clusterReadings(machines))
  const families = await scrape()
  expect(samplesOf(families, 'cluster_machines')).toEqual({
    'cluster_machines{state="online"}': 2,
    'cluster_machines{state="draining"}': 1,
    'cluster_machines{state="unreachable"}': 1,
    'cluster_machines{state="gone"}': 0,
  })
  expect(samplesOf(families, 'cluster_machine_visitors')).toEqual({
    'cluster_machine_visitors{machine="a.test:7443"}': 3,
    'cluster_machine_visitors{machine="b.test:7443"}': 40,
    'cluster_machine_visitors{machine="c.test:7443"}': 1,
    'cluster_machine_visitors{machine="d.test:7443"}': 5,
  })
  expect(samplesOf(families, 'cluster_machine_carriers')).toEqual({
    'cluster_machine_carriers{machine="a.test:7443"}': 2,
    'cluster_machine_carriers{machine="b.test:7443"}': 20,
    'cluster_machine_carriers{machine="c.test:7443"}': 0,
    'cluster_machine_carriers{machine="d.test:7443"}': 5,
  })
  // The figures without a label stay those of this machine.
  expect(samplesOf(families, 'visitor_connections')).toEqual({ visitor_connections: 3 })

  machines[1]!.state = 'gone'
  machines.splice(2)
  const later = await scrape()
  expect(samplesOf(later, 'cluster_machines')).toMatchObject({
    'cluster_machines{state="online"}': 1,
    'cluster_machines{state="gone"}': 1,
  })
  for (const name of ['cluster_machine_visitors', 'cluster_machine_carriers'])
    expect(Object.keys(samplesOf(later, name))).toEqual([`${name}{machine="a.test:7443"}`])
})

test('Redis and what this machine did with it are read at every scrape', async () => {
  let isRedisUp = true
  let redisFailures = 0
  const cluster: ClusterReadings = {
    machines: () => [],
    get isRedisUp() {
      return isRedisUp
    },
    get counts() {
      return {
        handedOut: 1,
        handedIn: 2,
        handOversFailed: 3,
        redisOperations: 4,
        redisFailures,
        resyncs: 6,
        changes: 7,
      }
    },
  }
  const scrape = exposing(cluster)
  const families = await scrape()
  expect(samplesOf(families, 'cluster_redis_up')).toEqual({ cluster_redis_up: 1 })
  expect(samplesOf(families, 'cluster_handovers_total')).toEqual({
    'cluster_handovers_total{direction="out"}': 1,
    'cluster_handovers_total{direction="in"}': 2,
    'cluster_handovers_total{direction="failed"}': 3,
  })
  const counts = { redis_operations: 4, redis_failures: 0, resyncs: 6, changes: 7 }
  for (const [name, count] of Object.entries(counts))
    expect(samplesOf(families, `cluster_${name}_total`)).toEqual({ [`cluster_${name}_total`]: count })

  isRedisUp = false
  redisFailures = 5
  const later = await scrape()
  expect(samplesOf(later, 'cluster_redis_up')).toEqual({ cluster_redis_up: 0 })
  expect(samplesOf(later, 'cluster_redis_failures_total')).toEqual({ cluster_redis_failures_total: 5 })
})
