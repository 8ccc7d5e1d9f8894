// Counts what the static cache does, for the metrics.

import { LabeledCounter } from '../../core/metrics/relay-counters.ts'
import type { CacheResult } from './snapshot.ts'

/**
 * The outcome of an upload: stored; refused for its content; postponed, because others were in progress or the disk was
 * full; dropped, because its lease ended or the policy does not route it; or failed by an error of the relay.
 */
export type UploadResult = 'stored' | 'refused' | 'busy' | 'dropped' | 'failed'

export class CacheCounts {
  readonly uploads: LabeledCounter<{ result: UploadResult }> = new LabeledCounter()
  readonly requests: LabeledCounter<{ result: CacheResult }> = new LabeledCounter()
  /** Bytes of stored files. */
  sentBytes = 0
}
