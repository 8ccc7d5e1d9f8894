// The metrics server as a feature: each part of the relay registers its own metrics there.

import type { Server } from 'node:http'
import type { Feature } from '../../feature.ts'
import { metricsSettings } from './settings.ts'

export const metrics: Feature = {
  settings: metricsSettings,
  checks: {
    metrics: async (settings, options) => {
      const { metricsAddress: address } = settings
      const { checkPlainHttp } = await import('../../core/check/plain-http.ts')
      return await checkPlainHttp('METRICS_ADDR', address, 'Metrics are served', settings, options)
    },
  },
  isOn: ({ metricsAddress }) => metricsAddress !== undefined,
  start: async ({ settings, state, visitors, counters, dataPlane }, running) => {
    const [
      { createMetricsServer },
      { Metrics },
      { registerRelayMetrics },
      { listenAt },
      { countReadySessions },
    ] = await Promise.all([
      import('./metrics-server.ts'),
      import('../../core/metrics/metrics.ts'),
      import('../../core/metrics/relay-metrics.ts'),
      import('../../core/ingress/listen.ts'),
      import('../../core/reverse/ready-queues.ts'),
    ])
    const { leases, writeHealth, certificateStatuses } = state
    let server: Server | undefined
    return {
      listen: async () => {
        const all = new Metrics()
        registerRelayMetrics(all, counters, {
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
        for (const part of running) part.metrics?.(all)
        server = createMetricsServer(all)
        await listenAt(server, settings.metricsAddress!, 'METRICS_ADDR', settings)
      },
      close: () => void server?.close(),
    }
  },
}
