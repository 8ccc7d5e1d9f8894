// Datagrams: the QUIC endpoint, the tunnels that come in there, and the forwarder between tunnels and UDP ports.

import { QuicCertificates } from '../core/certificates/quic-certificate.ts'
import type { Settings } from '../core/config/settings.ts'
import type { DataPlane } from '../core/data-plane.ts'
import type { Logger } from '../core/log/log.ts'
import type { Measured } from '../core/metrics/metrics.ts'
import type { RelayCounters } from '../core/metrics/relay-counters.ts'
import type { RelayState } from '../core/storage/stored-state.ts'
import { DatagramForwarder } from '../features/datagrams/datagram-forwarder.ts'
import { registerDatagramMetrics, registerEndpointMetrics } from '../features/datagrams/metrics.ts'
import { DatagramEndpoint } from '../features/datagrams/quic-endpoint.ts'
import { type LeaseTunnels, Tunnels } from '../features/datagrams/tunnels.ts'

export interface Datagrams extends Measured {
  forwarder: DatagramForwarder
  endpoint: DatagramEndpoint
  certificates: QuicCertificates
  close(): Promise<void>
}

interface DatagramParts {
  settings: Settings
  state: RelayState
  dataPlane: DataPlane
  counters: RelayCounters
  log: Logger
}

/** The endpoint does not listen yet. */
export function createDatagrams({ settings, state, dataPlane, counters, log }: DatagramParts): Datagrams {
  const { policy, credentials } = state
  const byLease: LeaseTunnels = new Map()
  const forwarder = new DatagramForwarder({
    listenAddress: settings.listenAddress,
    tunnelOf: (lease) => byLease.get(lease),
    routes: (lease) => policy.routes(lease),
    bandwidthOf: (lease) => dataPlane.bandwidths.of(lease),
    counters,
  })
  const tunnels = new Tunnels({
    byLease,
    credentials,
    policy,
    counters,
    received: (datagram, lease) => forwarder.fromTunnel(datagram, lease),
    log,
  })
  const certificates = new QuicCertificates(settings, state.certificates)
  const endpoint = new DatagramEndpoint(
    certificates,
    (connection) => tunnels.accept(connection),
    log,
    async (port, certificate, accept) => {
      const { startQuicProcess } = await import('../features/datagrams/quic-process-handle.ts')
      return startQuicProcess(
        { port, address: settings.listenAddress, certificate },
        { accept, dropped: (counts) => counters.drop(counts), log },
      )
    },
  )
  return {
    forwarder,
    endpoint,
    certificates,
    metrics: (metrics) => {
      registerDatagramMetrics(metrics, counters)
      if (settings.portGates.udp && settings.portRange !== undefined)
        registerEndpointMetrics(metrics, endpoint)
    },
    close: () => endpoint.close(),
  }
}
