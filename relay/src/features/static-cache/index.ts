// The static cache as a feature. A relay whose static cache is off loads none of its code.

import type { AdminCacheResponse } from '@svc/protocol'
import { timestamp, wallTimestamp } from '../../core/api/http/timestamp.ts'
import { SettingsError } from '../../core/config/settings.ts'
import type { Feature } from '../../feature.ts'
import { cluster } from '../cluster/index.ts'
import { siteCertificates } from '../site-certificates/index.ts'
import type { StoredSites } from './handlers.ts'
import { cacheSettings } from './settings.ts'

export const staticCache: Feature = {
  needs: [cluster, siteCertificates],
  settings: cacheSettings,
  checks: {
    'static cache': async (settings) => (await import('./check.ts')).checkStaticCache(settings),
  },
  isOn: ({ cache }) => cache.isEnabled,
  start: async (core, running) => {
    const [{ startStaticCache }, { createCacheHandlers }, { ENDPOINTS }] = await Promise.all([
      import('./start-static-cache.ts'),
      import('./handlers.ts'),
      import('../../core/api/endpoints/endpoints.ts'),
    ])
    const { settings, capacity, state, dataPlane, settled } = core
    const cache = await startStaticCache({
      ...core,
      ...state,
      settings: settings.cache,
      identityPath: settings.identityPath,
      ownPorts: settings.ownPorts,
      visitorServer: dataPlane.visitorServer,
      bandwidths: dataPlane.bandwidths,
      connections: capacity.connections,
      sharing: running.get(cluster)?.snapshots,
      hasIssued: async (...certificate) =>
        (await running.get(siteCertificates)?.hasIssued(...certificate)) === true,
    }).catch((error) => {
      throw new SettingsError('STATIC_CACHE_ENABLED', `the static cache cannot start: ${error.message}`)
    })
    const { site, sites } = cache
    return {
      domain: () => (site.canServe ? { cache: site.limits } : {}),
      handlers: (api) => ({
        ...createCacheHandlers(site, { ...api, policy: state.policy, settled }),
        adminCache: api.answer(ENDPOINTS.adminCache, () => adminCache(sites)),
      }),
      metrics: (metrics) => cache.metrics(metrics),
      // Ends uploads, visitors and timers. The files stay for the next start.
      close: () => cache.close(),
    }
  },
}

function adminCache(stored: StoredSites): AdminCacheResponse {
  const { usedBytes, maxBytes } = stored.use
  const sites = [...stored].sort((one, other) => one.expiresAt - other.expiresAt)
  return {
    sites: sites.map((site) => ({
      identity_key: site.identityKey,
      hostname: site.hostname,
      files: site.files,
      bytes: site.bytes,
      published_at: wallTimestamp(site.publishedAt),
      expires_at: timestamp(site.expiresAt),
      has_lease: site.lease !== undefined,
      is_served: site.isServed,
      machine: site.machine,
    })),
    used_bytes: usedBytes,
    max_bytes: maxBytes,
  }
}
