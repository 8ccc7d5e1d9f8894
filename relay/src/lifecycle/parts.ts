// Makes the parts of the primary process that both the control plane and the listener need, each from those before it.

import type { Pipe } from '../core/bridge/pipe.ts'
import { Visitors } from '../core/bridge/visitors.ts'
import { ClientAddresses } from '../core/client-address/client-addresses.ts'
import type { Settings } from '../core/config/settings.ts'
import { DataPlane } from '../core/data-plane.ts'
import type { Logger } from '../core/log/log.ts'
import { RelayCounters } from '../core/metrics/relay-counters.ts'
import type { DedicatedPorts } from '../features/ports/dedicated-ports.ts'
import { createDedicatedPorts } from '../features/ports/port-listeners.ts'
import { WorkerPool } from '../features/workers/worker-pool.ts'
import type { Acme } from './acme.ts'
import type { RelayCapacity } from './capacity.ts'
import type { Cluster } from './cluster.ts'
import { createDatagrams, type Datagrams } from './datagrams.ts'
import type { RelayState } from './stored-state.ts'

interface Foundation {
  settings: Settings
  capacity: RelayCapacity
  state: RelayState
  pipe: Pipe
  /** Undefined where the relay gets no certificates by ACME. */
  acme: Acme | undefined
  /** Undefined where the relay is one machine. */
  cluster: Cluster | undefined
  log: Logger
}

export interface RelayParts extends Foundation {
  clientAddresses: ClientAddresses
  visitors: Visitors
  counters: RelayCounters
  workers: WorkerPool
  dataPlane: DataPlane
  datagrams: Datagrams
  ports: DedicatedPorts
}

export function createParts(foundation: Foundation): RelayParts {
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
  return { ...foundation, clientAddresses, visitors, counters, workers, dataPlane, datagrams, ports }
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
