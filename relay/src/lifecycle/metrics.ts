// The metrics server, and the parts of the relay that register metrics there.

import type { Server } from 'node:http'
import type { Measured } from '../core/metrics/metrics.ts'
import { countReadySessions } from '../core/reverse/ready-queues.ts'
import type { RelayParts } from './parts.ts'

/**
 * @param measured undefined for parts that the operator did not turn on
 * @returns undefined where no metrics are served; the server does not listen yet
 */
export async function createMetrics(
  { settings, state, visitors, counters, dataPlane }: RelayParts,
  measured: readonly (Measured | undefined)[],
): Promise<Server | undefined> {
  if (settings.metricsAddress === undefined) return undefined
  const [{ createMetricsServer }, { Metrics }, { registerRelayMetrics }] = await Promise.all([
    import('../core/metrics/metrics-server.ts'),
    import('../core/metrics/metrics.ts'),
    import('../core/metrics/relay-metrics.ts'),
  ])
  const { leases, writeHealth, certificateStatuses } = state
  const metrics = new Metrics()
  registerRelayMetrics(metrics, counters, {
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
  })
  for (const part of measured) part?.metrics(metrics)
  return createMetricsServer(metrics)
}
