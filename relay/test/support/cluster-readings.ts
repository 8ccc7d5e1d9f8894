// Makes up what a relay on several machines tells of itself.

import type { ClusterReadings, MachineReading } from '../../src/core/metrics/cluster-readings.ts'

/** A machine that serves nobody, unless the fields say otherwise. */
export function machineReading(fields: Partial<MachineReading> = {}): MachineReading {
  return {
    address: '192.0.2.1:7443',
    releaseVersion: '1.2.3',
    state: 'online',
    isThis: false,
    startedAt: Date.UTC(2026, 0, 2),
    seenAt: Date.UTC(2026, 0, 3),
    carriers: 0,
    readySessions: 0,
    visitors: 0,
    fromVisitors: 0,
    toVisitors: 0,
    ...fields,
  }
}

export function clusterReadings(
  machines: MachineReading[],
  fields: Partial<ClusterReadings> = {},
): ClusterReadings {
  return {
    isRedisUp: true,
    machines: () => machines,
    counts: {
      handedOut: 0,
      handedIn: 0,
      handOversFailed: 0,
      redisOperations: 0,
      redisFailures: 0,
      resyncs: 0,
      changes: 0,
    },
    ...fields,
  }
}
