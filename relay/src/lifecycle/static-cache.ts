// Starts the static cache. A relay whose static cache is off loads none of its code.

import type { StaticCacheLimits } from '@svc/protocol'
import type { CacheEndpointParts, CacheHandlers, StoredSites } from '../api/handlers/static-cache.ts'
import type { CacheCounts } from '../cache/cache-counts.ts'
import type { HasIssued } from '../cache/live-site/certificate.ts'
import { SettingsError } from '../config/settings.ts'
import type { RelayParts } from './parts.ts'

export interface StaticCache {
  /** Undefined while the relay has no certificate with which it can serve sites. */
  readonly limits: StaticCacheLimits | undefined
  readonly sites: StoredSites
  /** Sites whose files this machine has, and the bytes of its disk. */
  readonly snapshots: number
  readonly usedBytes: number
  readonly counts: CacheCounts
  /** Open connections of visitors of stored files. */
  readonly connections: number
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
    import('../cache/start-static-cache.ts'),
    import('../api/handlers/static-cache.ts'),
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
  const { site, sites, counts } = running
  return {
    get limits() {
      return site.canServe ? site.limits : undefined
    },
    sites,
    get snapshots() {
      return running.snapshots
    },
    get usedBytes() {
      return running.usedBytes
    },
    counts,
    get connections() {
      return running.connections
    },
    createHandlers: (parts) => createCacheHandlers(site, parts),
    close: () => running.close(),
  }
}
