// Counts the outcomes of hop routes and of visitors on them, for the metrics.

import { LabeledCounter } from '../../../core/metrics/relay-counters.ts'

/** The reasons for which a hop route is refused. */
export type HopRefusal =
  | 'malformed'
  | 'forged'
  | 'expired'
  | 'replayed'
  | 'wrong_relay'
  | 'wrong_peer'
  | 'wrong_hostname'
  | 'no_lease'
  | 'rejected'
  | 'owner_full'
  | 'full'
  | 'rate_limited'

/** The outcomes of a visitor who came on a route, or was forwarded. */
export type HopVisitorResult =
  | 'forwarded'
  | 'arrived'
  | 'unknown_token'
  | 'wrong_hostname'
  | 'too_many_hops'
  | 'full'
  | 'rejected'
  | 'unreachable'
  | 'malformed'

export class HopCounts {
  readonly refusals: LabeledCounter<{ reason: HopRefusal }> = new LabeledCounter()
  readonly visitors: LabeledCounter<{ result: HopVisitorResult }> = new LabeledCounter()

  refused(reason: HopRefusal): void {
    this.refusals.add({ reason })
  }

  visitor(result: HopVisitorResult): void {
    this.visitors.add({ result })
  }
}
