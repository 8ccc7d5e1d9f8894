// The metrics of the static cache.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { CacheCounts } from './cache-counts.ts'

export interface CacheFigures {
  /** Sites whose files this machine has. */
  readonly snapshots: number
  /** Bytes of this machine's disk that they use. */
  readonly usedBytes: number
  readonly counts: CacheCounts
  /** Open connections of visitors of stored files. */
  readonly connections: number
}

export function registerCacheMetrics(metrics: Metrics, cache: CacheFigures): void {
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
