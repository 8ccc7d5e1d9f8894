// The metrics of discovery.

import type { Metrics } from '../../core/metrics/metrics.ts'

/** Figures of discovery, read at every scrape. */
export interface DiscoveryReadings {
  known: number
  current: number
  waiting: number
  refusals: Readonly<Record<string, number>>
}

export function registerDiscoveryMetrics(metrics: Metrics, read: () => DiscoveryReadings): void {
  metrics.gauge('discovery_relays_known', 'Relays that discovery knows.', () => read().known)
  metrics.gauge('discovery_relays', 'Relays that discovery passes on: they answer.', () => read().current)
  metrics.gauge(
    'discovery_relays_waiting',
    'Relays that somebody named and discovery has still to look at.',
    () => read().waiting,
  )
  metrics.recordCounter(
    'discovery_refusals_total',
    'Relays that discovery refused, or that did not answer it, by the reason.',
    'reason',
    () => read().refusals,
  )
}
