// The metrics of routes over several relays.

import type { Metrics } from '../../../core/metrics/metrics.ts'
import type { HopCounts } from './hop-counts.ts'

interface Sized {
  readonly size: number
}

interface HopParts {
  /** Hop routes of this relay, tokens that end here included. */
  hops: Sized
  /** Visitors being forwarded. */
  visitors: Sized
  /** Connections of sites to neighbours. */
  neighbours: Sized
}

export function registerHopMetrics(
  metrics: Metrics,
  { hops, visitors, neighbours }: HopParts,
  counts: HopCounts,
): void {
  metrics.gauge('hop_routes', 'Hop routes of this relay, and tokens that end here.', () => hops.size)
  metrics.gauge('hop_visitors', 'Visitors whom this relay passes on along a route.', () => visitors.size)
  metrics.gauge(
    'hop_connections',
    'Connections of sites through this relay to its neighbours.',
    () => neighbours.size,
  )
  metrics.labeledCounter(
    'hop_refusals_total',
    'Hop routes that were refused, by the reason.',
    ['reason'],
    counts.refusals,
  )
  metrics.labeledCounter(
    'hop_visitors_total',
    'Visitors on hop routes: passed on, arrived at the last relay, or refused.',
    ['result'],
    counts.visitors,
  )
}
