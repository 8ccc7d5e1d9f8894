// Several machines of one relay as a feature. A relay of one machine loads none of its code.

import { CERTIFICATE_FILES } from '../../core/certificates/managed-files.ts'
import { QUIC_CERTIFICATE_FILES } from '../../core/certificates/quic-certificate.ts'
import type { Feature, Prepared, Running } from '../../feature.ts'
import type { OrderSharing } from '../acme/order-sharing.ts'
import { datagrams } from '../datagrams/index.ts'
import { ports } from '../ports/index.ts'
import type { SnapshotSharing } from '../static-cache/snapshot-sharing.ts'
import { workers } from '../workers/index.ts'
import type { ClusterConnection } from './connection.ts'
import { clusterSettings } from './settings.ts'

export interface RunningCluster extends Running {
  /** Shares the snapshots of this machine with the others, and theirs with it. */
  snapshots: SnapshotSharing
  /** The state of ACME that the machines share. */
  orders: OrderSharing
}

interface PreparedCluster extends Prepared {
  connection: ClusterConnection
}

export const cluster: Feature<RunningCluster, PreparedCluster> = {
  needs: [workers, ports, datagrams],
  settings: clusterSettings,
  checks: {
    machines: async (settings, options) => (await import('./check.ts')).checkCluster(settings, options),
  },
  isOn: (settings) => settings.cluster !== undefined,
  prepare: async (settings, log) => {
    const { cluster } = settings
    if (cluster === undefined) return undefined
    const { ClusterConnection } = await import('./connection.ts')
    const connection = new ClusterConnection({ ...settings, cluster }, log)
    return {
      connection,
      openState: (open) => connection.openState(open),
      isOver: (...lease) => connection.isOver(...lease),
      machineMark: connection.bindingMark,
      close: () => connection.close(),
    }
  },
  start: async (core, running, { connection }) => {
    const { Cluster } = await import('./cluster.ts')
    const { settings, state, dataPlane, capacity, peers } = core
    const joined = new Cluster(
      connection,
      { ...settings, cluster: settings.cluster! },
      {
        ...core,
        ...state,
        reservations: state.journal.reservations,
        visitorServer: dataPlane.visitorServer,
        visitorsMax: capacity.connections,
        spend: core.spendHere,
        resumePorts: async (lease) => await running.get(ports)?.ports.resume(lease),
      },
    )
    peers.machines = joined
    // A machine that gets a new certificate, for example from the operator, sends it to the others.
    state.certificates.onReplace(() => void joined.share(CERTIFICATE_FILES))
    running.get(datagrams)?.certificates.onReplace(() => void joined.share(QUIC_CERTIFICATE_FILES))
    return {
      snapshots: joined.snapshots,
      orders: joined.orders,
      metrics: (metrics) => joined.metrics(metrics),
      beforeListen: () => joined.start(),
      close: () => joined.close(),
    }
  },
}
