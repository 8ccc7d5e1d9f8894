// The metrics of the static cache.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { RunningCache } from './start-static-cache.ts'

type Figures = Pick<RunningCache, 'snapshots' | 'usedBytes' | 'connections' | 'counts'>

export function registerCacheMetrics(metrics: Metrics, cache: Figures): void {
  metrics.gauge('cache_snapshots', 'Sites whose files the static cache stores.', () => cache.snapshots)
  metrics.gauge(
    'cache_used_bytes',
    'Bytes of the disk that the static cache uses, uploads included.',
    () => cache.usedBytes,
  )
  metrics.gauge(
    'cache_connections',
    'Open connections of visitors of sites with stored files.',
    () => cache.connections,
  )
  metrics.counter(
    'cache_sent_bytes_total',
    'Bytes of stored files that the relay sent to visitors.',
    () => cache.counts.sentBytes,
  )
  metrics.labeledCounter(
    'cache_uploads_total',
    'Uploads to the static cache, by how they ended.',
    ['result'],
    cache.counts.uploads,
  )
  metrics.labeledCounter(
    'cache_requests_total',
    'Requests of visitors of sites with stored files: answered from these, by the live site, or with the site away.',
    ['result'],
    cache.counts.requests,
  )
}
