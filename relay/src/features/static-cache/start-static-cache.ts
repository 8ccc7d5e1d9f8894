// Starts the static cache: the store of files, what sites may do with it, and the server of their visitors.

import { join } from 'node:path'
import type { VisitorServer } from '../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../core/bridge/visitors.ts'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import { ServerCertificates } from '../../core/certificates/server-certificate.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Route } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Measured } from '../../core/metrics/metrics.ts'
import type { IdentityBandwidths } from '../../core/policy/identity-bandwidths.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import { UNCOUNTED } from '../../core/traffic/counted-connection.ts'
import type { LeaseTraffic } from '../../core/traffic/lease-traffic.ts'
import { CacheCounts } from './cache-counts.ts'
import type { StoredSites } from './handlers.ts'
import type { HasIssued } from './live-site/certificate.ts'
import { startLiveSites } from './live-site/start-live-sites.ts'
import { type CacheFigures, registerCacheMetrics } from './metrics.ts'
import type { PresentSnapshot } from './present-snapshot.ts'
import { type CacheServer, createCacheServer } from './server/cache-server.ts'
import type { CacheSettings } from './settings.ts'
import { SiteSnapshots } from './site-snapshots.ts'
import { SnapshotRegistry } from './snapshot-registry.ts'
import type { SnapshotSharing } from './snapshot-sharing.ts'
import { bytesOf } from './snapshot-size.ts'
import { SnapshotStore } from './storage/snapshot-store.ts'
import { UploadAdmission } from './upload/upload-admission.ts'

export interface StaticCacheParts {
  settings: CacheSettings
  /** The ports that visitors may name. */
  ownPorts: readonly number[]
  /** The state directory of the relay. */
  identityPath: string
  routes: RoutingTable<Route>
  policy: PolicyRules
  leases: LeaseRegistry
  certificates: CertificateRotation
  visitorServer: VisitorServer
  visitors: Visitors
  traffic: Pick<LeaseTraffic, 'connect' | 'onSample'>
  bandwidths: Pick<IdentityBandwidths, 'limitOf'>
  /** True when the relay has issued a certificate for a lease. */
  hasIssued: HasIssued
  /** Aborted as soon as the relay begins to close. */
  closing: AbortSignal
  /** Connections that this process may have. */
  connections: number
  /** The other machines; undefined on a single machine. */
  sharing?: SnapshotSharing | undefined
  log: Logger
}

/** The static cache while it runs. */
export interface RunningCache extends Measured, CacheFigures {
  readonly site: SiteSnapshots
  readonly sites: StoredSites
  /** Ends uploads, visitors and timers. The files stay for the next start. */
  close(): Promise<void>
}

/** The folder of the static cache in the state directory. */
const CACHE_DIRECTORY = 'static-cache'

/** @throws Error when the folder of the cache cannot be used */
export async function startStaticCache(parts: StaticCacheParts): Promise<RunningCache> {
  const { settings, certificates, bandwidths, log } = parts
  const { bytes, ttlMaxS } = settings
  // Only steps that cannot fail follow the opening of the store, which would otherwise have to be closed.
  const live = startLiveSites(parts)
  const store = await SnapshotStore.open({ directory: join(parts.identityPath, CACHE_DIRECTORY), bytes, log })
  const admission = new UploadAdmission()
  const counts = new CacheCounts()
  const own = new ServerCertificates(certificates)
  const canServe = (): boolean => own.isAvailable
  const registry = new SnapshotRegistry({
    ...parts,
    store,
    maxBytes: bytes,
    ttlMaxS,
    isUploading: (identityKey) => admission.isUploading(identityKey),
    canServe,
    serve: (...visitor) => server.serve(...visitor),
  })
  const server: CacheServer = createCacheServer({
    snapshots: registry,
    live,
    ownPorts: parts.ownPorts,
    certificates: own,
    count: ({ hostname, clientIp }) => {
      const owner = registry.ownerOf(hostname)
      const network = clientIp === undefined ? undefined : networkOf(clientIp)
      return owner === undefined ? UNCOUNTED : parts.traffic.connect(owner, network, true)
    },
    observe: (result) => counts.requests.add({ result }),
    limitOf: (snapshot) => bandwidths.limitOf(snapshot),
    onSent: (bytes) => {
      counts.sentBytes += bytes
    },
    log,
  })
  parts.traffic.onSample(() => server.sample())
  certificates.onReplace(() => registry.judge())
  const { sharing } = parts
  sharing?.join(sharedSnapshots({ registry, store, admission, maxBytes: bytes }))
  const running: RunningCache = {
    metrics: (metrics) => registerCacheMetrics(metrics, running),
    site: new SiteSnapshots({ store, registry, admission, counts, canServe, bytes, sharing }),
    sites: storedSites({ ...parts, registry, store, bytes }),
    get snapshots() {
      return registry.size
    },
    get usedBytes() {
      return store.usedBytes
    },
    counts,
    get connections() {
      return server.connections
    },
    close: async () => {
      admission.close()
      const closed = registry.close()
      await server.close()
      await Promise.all([closed, live.close()])
      await store.close()
    },
  }
  return running
}

interface SharedSnapshotsParts {
  registry: SnapshotRegistry
  store: SnapshotStore
  admission: UploadAdmission
  maxBytes: number
}

/** What the other machines learn of the snapshots of this one, and do with them. */
function sharedSnapshots({
  registry,
  store,
  admission,
  maxBytes,
}: SharedSnapshotsParts): Parameters<SnapshotSharing['join']>[0] {
  return {
    all: () => registry.shared(),
    use: () => ({ usedBytes: store.usedBytes, maxBytes }),
    routeOf: (hostname) => registry.routeOf(hostname),
    removedElsewhere: (identityKey) => {
      admission.cancel(identityKey, 'the site stored or removed its files elsewhere meanwhile')
      void registry.remove(identityKey)
    },
  }
}

interface StoredSitesParts extends Pick<StaticCacheParts, 'leases' | 'policy' | 'sharing'> {
  registry: SnapshotRegistry
  store: SnapshotStore
  /** Those that the cache of this machine may use. */
  bytes: number
}

/** The sites with files on any machine, for the operator. */
function storedSites({ registry, store, bytes, leases, policy, sharing }: StoredSitesParts): StoredSites {
  return {
    get use() {
      const { usedBytes, maxBytes } = sharing?.useElsewhere() ?? { usedBytes: 0, maxBytes: 0 }
      return { usedBytes: usedBytes + store.usedBytes, maxBytes: maxBytes + bytes }
    },
    *[Symbol.iterator]() {
      for (const present of registry) {
        const { snapshot, lease } = present
        const size = { files: snapshot.files.size, bytes: bytesOf(snapshot) }
        yield {
          ...describe(present),
          ...size,
          lease,
          isServed: registry.isServed(present),
          machine: sharing?.machine,
        }
      }
      for (const remote of sharing?.elsewhere() ?? []) {
        const lease = leases.ofIdentity(remote.identityKey)
        const { isApproved, isBanned } = policy.identityStatus(remote.identityKey)
        const isAllowed = lease === undefined ? isApproved && !isBanned : policy.routes(lease)
        yield { ...remote, lease, isServed: remote.isReachable && isAllowed }
      }
    },
  }
}

function describe({ identityKey, hostname, publishedAt, expiresAt }: PresentSnapshot) {
  return { identityKey, hostname, publishedAt, expiresAt }
}
