// Makes the core of a relay in its primary process, and the parts that are not features yet, each from those before it.

import { Visitors } from '../core/bridge/visitors.ts'
import { ClientAddresses } from '../core/client-address/client-addresses.ts'
import type { Core } from '../core/core.ts'
import { DataPlane } from '../core/data-plane.ts'
import { RelayCounters } from '../core/metrics/relay-counters.ts'
import type { Cluster } from '../features/cluster/start-cluster.ts'
import type { DedicatedPorts } from '../features/ports/dedicated-ports.ts'
import { createDedicatedPorts } from '../features/ports/port-listeners.ts'
import { WorkerPool } from '../features/workers/worker-pool.ts'
import type { Acme } from './acme.ts'
import { createDatagrams, type Datagrams } from './datagrams.ts'

interface Foundation
  extends Pick<
    Core,
    'settings' | 'capacity' | 'state' | 'pipe' | 'closing' | 'hasIssued' | 'serveVisitor' | 'log'
  > {
  /** Undefined where the relay gets no certificates by ACME. */
  acme: Acme | undefined
  /** Undefined where the relay is one machine. */
  cluster: Cluster | undefined
}

/** The core, and the parts that are not features yet. */
export interface Primary extends Core {
  acme: Acme | undefined
  cluster: Cluster | undefined
  workers: WorkerPool
  datagrams: Datagrams
  ports: DedicatedPorts
}

export function createPrimary(foundation: Foundation): Primary {
  const { settings, state, pipe, acme, cluster, log } = foundation
  const { identity, routes, policy, leases } = state
  const clientAddresses = new ClientAddresses(settings.trustedProxies)
  const visitors = new Visitors(log)
  const counters = new RelayCounters()
  const { publicKey } = identity
  const provesNames = acme !== undefined
  const machines = (): number => cluster?.size ?? 1
  const markOf = (processIndex: number): Uint8Array =>
    Uint8Array.of(processIndex, ...(cluster?.bindingMark ?? []))
  const workers = new WorkerPool({
    ...state,
    settings,
    provesNames,
    machines,
    markOf,
    publicKey,
    visitors,
    counters,
    log,
  })
  const hasPeers = settings.workers > 1 || cluster !== undefined
  const dataPlane = new DataPlane({
    processes: () => settings.workers * machines(),
    bindingMark: hasPeers ? markOf(0) : undefined,
    clientAddresses,
    routes,
    policy,
    visitors,
    counters,
    pipe,
    proveName: acme?.proveName,
    isReady: () => state.certificates.hasCertificate,
    makeRoomElsewhere: (lease) => workers.makeRoom(lease),
    log,
  })
  policy.onChange(() => {
    for (const lease of leases) lease.follow(policy.routes(lease))
  })
  const datagrams = createDatagrams({ settings, state, dataPlane, counters, log })
  const ports = createPorts(foundation, dataPlane, datagrams)
  const isClosing = (): boolean => foundation.closing.aborted
  return {
    ...foundation,
    isClosing,
    settled: () => workers.settled(),
    clientAddresses,
    visitors,
    counters,
    workers,
    dataPlane,
    datagrams,
    ports,
  }
}

function createPorts(
  { settings, capacity, state, log }: Foundation,
  { visitorServer }: DataPlane,
  { forwarder, endpoint }: Datagrams,
): DedicatedPorts {
  return createDedicatedPorts({
    settings,
    policy: state.policy,
    reservations: state.journal.reservations,
    visitors: visitorServer,
    connectionsMax: capacity.portConnections,
    // Where every port of the range may be open, the range is the bound: the error at its end names the range.
    listenersMax: capacity.hasFewListeners ? capacity.portListeners : Number.POSITIVE_INFINITY,
    bindUdp: (port, served) => forwarder.open(port, served),
    hasNoTunnels: () => endpoint.isMissing,
    log,
  })
}
