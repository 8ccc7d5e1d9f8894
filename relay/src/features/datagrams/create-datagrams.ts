// Creates the QUIC endpoint, the datagram tunnels that connect to it, and the forwarder between tunnels and UDP ports.

import { QuicCertificates } from '../../core/certificates/quic-certificate.ts'
import type { Core } from '../../core/core.ts'
import type { Measured } from '../../core/metrics/metrics.ts'
import { DatagramForwarder } from './datagram-forwarder.ts'
import { registerDatagramMetrics, registerEndpointMetrics } from './metrics.ts'
import { DatagramEndpoint } from './quic-endpoint.ts'
import { type LeaseTunnels, Tunnels } from './tunnels.ts'

export interface Datagrams extends Measured {
  forwarder: DatagramForwarder
  endpoint: DatagramEndpoint
  certificates: QuicCertificates
}

/** The endpoint does not listen yet. */
export function createDatagrams({ settings, state, dataPlane, counters, traffic, log }: Core): Datagrams {
  const { policy, credentials } = state
  const byLease: LeaseTunnels = new Map()
  const forwarder = new DatagramForwarder({
    listenAddress: settings.listenAddress,
    tunnelOf: (lease) => byLease.get(lease),
    routes: (lease) => policy.routes(lease),
    bandwidthOf: (lease) => dataPlane.bandwidths.of(lease),
    counters,
    traffic,
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
      const { startQuicProcess } = await import('./quic-process-handle.ts')
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
      registerEndpointMetrics(metrics, endpoint)
    },
  }
}
