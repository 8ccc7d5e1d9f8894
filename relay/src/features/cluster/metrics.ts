// The metrics of a relay on several machines.

import {
  type ClusterReadings,
  MACHINE_STATES,
  type MachineReading,
} from '../../core/metrics/cluster-readings.ts'
import type { LabeledCount, Metrics } from '../../core/metrics/metrics.ts'

export function registerClusterMetrics(metrics: Metrics, cluster: ClusterReadings): void {
  registerMachines(metrics, cluster)
  metrics.recordCounter(
    'cluster_handovers_total',
    'Visitors that this machine handed over to another one, that it took from another one, or that none took.',
    'direction',
    () => {
      const { handedOut, handedIn, handOversFailed } = cluster.counts
      return { out: handedOut, in: handedIn, failed: handOversFailed }
    },
  )
  metrics.counter(
    'cluster_redis_operations_total',
    'Operations of Redis that this machine asked for.',
    () => cluster.counts.redisOperations,
  )
  metrics.counter(
    'cluster_redis_failures_total',
    'Operations of Redis that failed.',
    () => cluster.counts.redisFailures,
  )
  metrics.counter(
    'cluster_resyncs_total',
    'Times that this machine read the whole shared state again.',
    () => cluster.counts.resyncs,
  )
  metrics.counter(
    'cluster_changes_total',
    'Changes of the shared state that this machine followed.',
    () => cluster.counts.changes,
  )
}

function registerMachines(metrics: Metrics, cluster: ClusterReadings): void {
  // A machine that is gone has no figures any more.
  const ofEach = (read: (machine: MachineReading) => number): LabeledCount<'machine'>[] =>
    cluster
      .machines()
      .filter(({ state }) => state !== 'gone')
      .map((machine) => ({ labels: { machine: machine.address }, count: read(machine) }))
  metrics.gauge('cluster_redis_up', 'Whether Redis of the cluster answers: 1 or 0.', () =>
    Number(cluster.isRedisUp),
  )
  metrics.labeledGauge('cluster_machines', 'Machines of the relay, by their state.', ['state'], () => {
    const machines = cluster.machines()
    return MACHINE_STATES.map((state) => ({
      labels: { state },
      count: machines.filter((machine) => machine.state === state).length,
    }))
  })
  metrics.labeledGauge(
    'cluster_machine_visitors',
    'Open connections of visitors at each machine of the relay, as this machine knows them.',
    ['machine'],
    () => ofEach(({ visitors }) => visitors),
  )
  metrics.labeledGauge(
    'cluster_machine_carriers',
    'Open carriers at each machine of the relay, as this machine knows them.',
    ['machine'],
    () => ofEach(({ carriers }) => carriers),
  )
}
