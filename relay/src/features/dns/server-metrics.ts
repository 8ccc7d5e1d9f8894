// The metrics of the DNS server.

import type { DnsCounts } from '@svc/dns'
import type { Metrics } from '../../core/metrics/metrics.ts'

/** @param read returns the counts that the server's thread last reported */
export function registerDnsMetrics(metrics: Metrics, read: () => DnsCounts): void {
  metrics.recordCounter(
    'dns_queries_total',
    'Queries to the DNS server, by what became of them.',
    'result',
    () => read().queries,
  )
  metrics.counter('dns_tcp_queries_total', 'Queries to the DNS server over TCP.', () => read().overTcp)
  metrics.gauge('dns_connections', 'Open TCP connections of the DNS server.', () => read().connections)
}
