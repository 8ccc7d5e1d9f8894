// Custom domains as a feature: sites' own domains, whose records prove who owns them.

import { setTimeout as delay } from 'node:timers/promises'
import { isPublicAddress } from '@svc/protocol'
import type { Feature } from '../../feature.ts'
import { customDomainSettings } from './settings.ts'

export const customDomains: Feature = {
  settings: customDomainSettings,
  checks: {
    'custom domains': async (settings) => (await import('./check.ts')).checkCustomDomains(settings),
  },
  isOn: (settings) => settings.customDomains.isEnabled,
  start: async ({ settings, state, peers, log }) => {
    const [{ CustomDomains }, { RelayAddresses }, { registerCustomDomainMetrics }, rateLimits, limits, api] =
      await Promise.all([
        import('./custom-domains.ts'),
        import('./relay-addresses.ts'),
        import('./metrics.ts'),
        import('../../core/rate-limit/client-rate-limits.ts'),
        import('./limits.ts'),
        import('../../core/api/endpoints/endpoints.ts'),
      ])
    const domains = new CustomDomains({
      ...state,
      rootHost: settings.rootHost,
      dns: { servers: settings.customDomains.resolvers, mayAsk: isPublicAddress },
      rateLimits: new rateLimits.RateLimits(settings.rateLimits),
      addresses: new RelayAddresses(settings),
      sharing: peers.machines?.leases,
      log,
    })
    return {
      extensions: ['custom_domains'],
      customDomains: domains,
      handlers: ({ answer, credentials }) => ({
        customDomains: answer(api.ENDPOINTS.customDomains, async ({ body }) => {
          const lease = credentials.leaseOf(body.access_token, 'lease')
          domains.ask(lease)
          const waiting = new AbortController()
          const late = delay(limits.ANSWER_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {})
          await Promise.race([domains.settled(lease), late])
          waiting.abort()
          return { domains: domains.of(lease), retry_after: domains.retryAfterS(lease) }
        }),
      }),
      metrics: (metrics) => registerCustomDomainMetrics(metrics, domains),
      close: () => domains.close(),
    }
  },
}
