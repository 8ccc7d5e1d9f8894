// Several machines of one relay as a feature. A relay of one machine loads none of its code.

import { CERTIFICATE_FILES } from '../../core/certificates/managed-files.ts'
import { QUIC_CERTIFICATE_FILES } from '../../core/certificates/quic-certificate.ts'
import type { Feature, Prepared, Running } from '../../feature.ts'
import type { OrderSharing } from '../acme/order-sharing.ts'
import { datagrams } from '../datagrams/index.ts'
import { ports } from '../ports/index.ts'
import type { SnapshotSharing } from '../static-cache/snapshot-sharing.ts'
import { workers } from '../workers/index.ts'
import type { Cluster } from './start-cluster.ts'

export interface RunningCluster extends Running {
  /** Tells the other machines of the snapshots of this one, and of theirs. */
  snapshots: SnapshotSharing
  /** What ACME shares. */
  orders: OrderSharing
}

interface PreparedCluster extends Prepared {
  cluster: Cluster
}

export const cluster: Feature<RunningCluster, PreparedCluster> = {
  needs: [workers, ports, datagrams],
  checks: {
    machines: async (settings, options) => (await import('./check.ts')).checkCluster(settings, options),
  },
  isOn: (settings) => settings.cluster !== undefined,
  prepare: async (settings, log) => {
    const { cluster } = settings
    if (cluster === undefined) return undefined
    const { Cluster } = await import('./start-cluster.ts')
    const prepared = new Cluster({ ...settings, cluster }, log)
    return {
      cluster: prepared,
      openState: (open) => prepared.openState(open),
      isOver: (...lease) => prepared.isOver(...lease),
      machineMark: prepared.bindingMark,
      close: () => prepared.close(),
    }
  },
  start: async (core, running, { cluster }) => {
    const { state, dataPlane, capacity, peers } = core
    peers.machines = cluster.join({
      ...core,
      ...state,
      reservations: state.journal.reservations,
      visitorServer: dataPlane.visitorServer,
      visitorsMax: capacity.connections,
      spend: core.spendHere,
      resumePorts: async (lease) => await running.get(ports)?.ports.resume(lease),
    })
    // A machine that gets another certificate, such as from the operator, gives it to the others.
    state.certificates.onReplace(() => void cluster.share(CERTIFICATE_FILES))
    running.get(datagrams)?.certificates.onReplace(() => void cluster.share(QUIC_CERTIFICATE_FILES))
    return {
      snapshots: cluster.snapshots,
      orders: cluster.orders,
      metrics: (metrics) => cluster.metrics(metrics),
      load: () => cluster.start(),
    }
  },
}
