// Starts the static cache. A relay whose static cache is off loads none of its code.

import type { StaticCacheLimits } from '@svc/protocol'
import type { CacheEndpointParts, CacheHandlers, StoredSites } from '../core/api/handlers/static-cache.ts'
import { SettingsError } from '../core/config/settings.ts'
import type { Measured } from '../core/metrics/metrics.ts'
import type { HasIssued } from '../features/static-cache/live-site/certificate.ts'
import type { RelayParts } from './parts.ts'

export interface StaticCache extends Measured {
  /** Undefined while the relay has no certificate with which it can serve sites. */
  readonly limits: StaticCacheLimits | undefined
  readonly sites: StoredSites
  createHandlers(parts: CacheEndpointParts): CacheHandlers
  /** Ends uploads, visitors and timers. The files stay for the next start. */
  close(): Promise<void>
}

interface StaticCacheParts extends RelayParts {
  /** Aborted as soon as the relay begins to close. */
  closing: AbortSignal
  hasIssued: HasIssued
}

/**
 * @returns undefined where the static cache is off
 * @throws SettingsError when its folder cannot be used
 */
export async function startStaticCache(parts: StaticCacheParts): Promise<StaticCache | undefined> {
  const { settings, capacity, state, dataPlane, cluster } = parts
  const { cache, identityPath } = settings
  if (!cache.isEnabled) return undefined
  const [{ startStaticCache: start }, { createCacheHandlers }] = await Promise.all([
    import('../features/static-cache/start-static-cache.ts'),
    import('../core/api/handlers/static-cache.ts'),
  ])
  const { visitorServer, bandwidths } = dataPlane
  const { connections } = capacity
  const running = await start({
    ...parts,
    ...state,
    settings: cache,
    identityPath,
    ownPorts: settings.ownPorts,
    visitorServer,
    bandwidths,
    connections,
    sharing: cluster?.snapshots,
  }).catch((error) => {
    throw new SettingsError('STATIC_CACHE_ENABLED', `the static cache cannot start: ${error.message}`)
  })
  const { site, sites } = running
  return {
    metrics: (metrics) => running.metrics(metrics),
    get limits() {
      return site.canServe ? site.limits : undefined
    },
    sites,
    createHandlers: (parts) => createCacheHandlers(site, parts),
    close: () => running.close(),
  }
}
