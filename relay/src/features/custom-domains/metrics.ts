// The metrics of custom domains.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { CustomDomains } from './custom-domains.ts'

export function registerCustomDomainMetrics(
  metrics: Metrics,
  domains: Pick<CustomDomains, 'counts' | 'outcomes'>,
): void {
  metrics.labeledGauge('custom_domains', "Domains that sites' registrations name.", ['state'], () =>
    Object.entries(domains.counts).map(([state, count]) => ({ labels: { state }, count })),
  )
  metrics.recordCounter(
    'custom_domain_lookups_total',
    "Look-ups of custom domains' records, by what they proved.",
    'outcome',
    () => domains.outcomes,
  )
}
