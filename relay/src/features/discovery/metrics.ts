// The metrics of discovery.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Discovery } from './start-discovery.ts'

export function registerDiscoveryMetrics(metrics: Metrics, read: Discovery['readings']): void {
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
  metrics.recordCounter(
    'go_visits_total',
    'Visitors of /go/: led to this relay, elsewhere, nowhere, or put off since the relay was busy.',
    'outcome',
    () => read().visits,
  )
}
