// Describes the relay's load in JSON: that of its only machine, or the sums of several machines and each of them.

import type { AdminLoadResponse, AdminMachine } from '@svc/protocol'
import type { Visitors } from '../../bridge/visitors.ts'
import type { Lease } from '../../lease/lease.ts'
import type { ClusterReadings, MachineReading } from '../../metrics/cluster-readings.ts'
import type { RelayCounters } from '../../metrics/relay-counters.ts'
import { countReadySessions } from '../../reverse/ready-queues.ts'
import type { LeaseTraffic } from '../../traffic/lease-traffic.ts'
import { wallTimestamp } from '../http/timestamp.ts'

/** The parts that have the figures. */
export interface MeasuredLoad {
  counters: Pick<RelayCounters, 'carriers'>
  visitors: Pick<Visitors, 'size' | 'traffic'>
  traffic: Pick<LeaseTraffic, 'all' | 'of' | 'hoursOf'>
  leases: Iterable<Lease> & { readonly size: number }
  /** Undefined where the relay runs on one machine. */
  cluster?: ClusterReadings | undefined
}

export function loadJson(measured: MeasuredLoad): AdminLoadResponse {
  return { ...carriedJson(measured), traffic: measured.traffic.all }
}

function carriedJson({ leases, counters, visitors, cluster }: MeasuredLoad): AdminLoadResponse {
  // Each machine knows all leases.
  if (cluster !== undefined) return { leases: leases.size, ...clusterJson(cluster) }
  const { fromVisitors, toVisitors } = visitors.traffic
  return {
    leases: leases.size,
    ready_sessions: countReadySessions(leases),
    carriers: counters.carriers,
    visitor_connections: visitors.size,
    visitor_received_bytes: fromVisitors,
    visitor_sent_bytes: toVisitors,
  }
}

function clusterJson(cluster: ClusterReadings): Omit<AdminLoadResponse, 'leases'> {
  const machines = cluster.machines()
  const present = machines.filter(({ state }) => state !== 'gone')
  const sum = (read: (machine: MachineReading) => number): number =>
    present.reduce((total, machine) => total + read(machine), 0)
  return {
    ready_sessions: sum(({ readySessions }) => readySessions),
    carriers: sum(({ carriers }) => carriers),
    visitor_connections: sum(({ visitors }) => visitors),
    visitor_received_bytes: sum(({ fromVisitors }) => fromVisitors),
    visitor_sent_bytes: sum(({ toVisitors }) => toVisitors),
    machines: machines.map(machineJson),
    redis: cluster.isRedisUp ? 'up' : 'down',
  }
}

function machineJson(machine: MachineReading): AdminMachine {
  return {
    address: machine.address,
    release_version: machine.releaseVersion,
    state: machine.state,
    is_this: machine.isThis,
    started_at: wallTimestamp(machine.startedAt),
    seen_at: wallTimestamp(machine.seenAt),
    carriers: machine.carriers,
    ready_sessions: machine.readySessions,
    visitor_connections: machine.visitors,
    visitor_received_bytes: machine.fromVisitors,
    visitor_sent_bytes: machine.toVisitors,
  }
}
