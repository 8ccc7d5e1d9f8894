// The metrics server and what it reads.

import type { Server } from 'node:http'
import { countReadySessions } from '../reverse/ready-queues.ts'
import type { Discovery } from './discovery.ts'
import type { Dns } from './dns.ts'
import type { Hops } from './hops.ts'
import type { Overlay } from './overlay.ts'
import type { RelayParts } from './parts.ts'
import type { Payment } from './payment.ts'
import type { StaticCache } from './static-cache.ts'

/** @returns undefined where no metrics are served; the server does not listen yet */
export async function createMetrics({
  settings,
  state,
  visitors,
  counters,
  dataPlane,
  datagrams,
  cluster,
  dns,
  staticCache,
  payment,
  discovery,
  overlay,
  hops,
}: RelayParts & {
  dns: Dns
  staticCache?: StaticCache | undefined
  payment?: Payment | undefined
  discovery?: Discovery | undefined
  overlay?: Pick<Overlay, 'link' | 'readings'> | undefined
  hops?: Hops | undefined
}): Promise<Server | undefined> {
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
    staticCache: staticCache && {
      uploads: staticCache.counts.uploads,
      requests: staticCache.counts.requests,
      sentBytes: () => staticCache.counts.sentBytes,
      connections: () => staticCache.connections,
      snapshots: () => staticCache.snapshots,
      usedBytes: () => staticCache.usedBytes,
    },
    payments: payment && { requests: payment.counts.requests, settled: () => payment.counts.settled },
    discovery: discovery?.readings,
    overlayLink: overlay?.link,
    overlay: overlay?.readings,
    hops: hops?.readings,
    cluster: cluster?.readings,
    tunnelEndpoint: hasUdp ? datagrams.endpoint : undefined,
  })
}
