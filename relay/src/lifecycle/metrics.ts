// The metrics server and what it reads.

import type { Server } from 'node:http'
import { countReadySessions } from '../reverse/ready-queues.ts'
import type { Dns } from './dns.ts'
import type { RelayParts } from './parts.ts'

/** @returns undefined where no metrics are served; the server does not listen yet */
export async function createMetrics({
  settings,
  state,
  visitors,
  counters,
  dataPlane,
  datagrams,
  dns,
}: RelayParts & { dns: Dns }): Promise<Server | undefined> {
  if (settings.metricsAddress === undefined) return undefined
  const { createMetricsServer } = await import('../metrics/metrics-server.ts')
  const { leases, writeHealth, certificateStatuses } = state
  const hasUdp = settings.portGates.udp && settings.portRange !== undefined
  return createMetricsServer(counters, {
    silentConnections: () => dataPlane.connectionLimiter.silent,
    leases: () => leases.size,
    readySessions: () => countReadySessions(leases),
    visitors: () => visitors.size,
    traffic: () => visitors.traffic,
    unwritableFiles: () => writeHealth.failing.length,
    writeFailures: () => writeHealth.failures,
    certificateExpiries: () =>
      certificateStatuses
        .all()
        .flatMap(({ kind, notAfter }) =>
          notAfter === undefined ? [] : [{ kind, remainingMs: notAfter - Date.now() }],
        ),
    acmeOrders: certificateStatuses.orders,
    dns: dns.server,
    tunnelEndpoint: hasUdp ? datagrams.endpoint : undefined,
  })
}
