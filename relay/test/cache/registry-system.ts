// The registry of snapshots with real leases, routes and policy, and a store in memory.

import { createHash } from 'node:crypto'
import type { StaticCacheManifest } from '@svc/protocol'
import type { Lease } from '../../src/core/lease/lease.ts'
import { NO_PREFERENCES } from '../../src/core/lease/lease-preferences.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import { Reservations } from '../../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { initialPolicy, type PolicyFile } from '../../src/core/policy/policy-file.ts'
import { PolicyRules } from '../../src/core/policy/policy-rules.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import type { BorrowedSnapshot, Snapshot } from '../../src/features/static-cache/snapshot.ts'
import {
  SnapshotRegistry as Registry,
  type RegistryParts,
  type SnapshotRegistry,
} from '../../src/features/static-cache/snapshot-registry.ts'
import { diskBytesOf } from '../../src/features/static-cache/snapshot-size.ts'
import type { ReceiveParts, SnapshotRecord } from '../../src/features/static-cache/storage/snapshot-store.ts'
import { type Upload, UploadAdmission } from '../../src/features/static-cache/upload/upload-admission.ts'

export const TTL_MAX_S = 7200
/** Bytes of the disk that all snapshots may take. */
export const MAX_BYTES: number = 1024 * 1024 * 1024
export const addresses = { clientIp: '192.0.2.1', reportedIp: '198.51.100.1' }

type Store = RegistryParts['store']

export type Kept = { snapshot: Snapshot; record: SnapshotRecord }

/** Keeps what a disk would keep. */
export class MemoryStore implements Store {
  readonly records = new Map<Snapshot, SnapshotRecord>()
  readonly kept: readonly Kept[]
  rewrites = 0
  discarded = 0
  readonly #borrowed = new Set<BorrowedSnapshot>()
  #ids = 0

  constructor(kept: readonly Kept[] = []) {
    this.kept = kept
    for (const { snapshot, record } of kept) this.records.set(snapshot, record)
  }

  get usedBytes(): number {
    return [...this.records.keys()].reduce((sum, snapshot) => sum + diskBytesOf(snapshot), 0)
  }

  async receive({ manifest, owner }: Pick<ReceiveParts, 'manifest' | 'owner'>) {
    this.#ids += 1
    const files = new Map(manifest.files.map((file) => [file.path, { ...file, codings: new Map() }]))
    const snapshot: Snapshot = {
      id: `${this.#ids}`,
      ...owner,
      index: manifest.index,
      hasFallback: true,
      files,
    }
    return {
      publish: async (record: SnapshotRecord) => {
        this.records.set(snapshot, record)
        return snapshot
      },
      discard: async () => {
        this.discarded += 1
      },
    }
  }

  async rewrite(snapshot: Snapshot, record: SnapshotRecord): Promise<void> {
    if (!this.records.has(snapshot)) throw new Error('the snapshot is gone')
    this.rewrites += 1
    this.records.set(snapshot, record)
  }

  borrow(snapshot: Snapshot) {
    const borrowed = { snapshot, pathOf: () => '', release: () => void this.#borrowed.delete(borrowed) }
    this.#borrowed.add(borrowed)
    return borrowed
  }

  isRead(snapshot: Snapshot): boolean {
    return [...this.#borrowed].some((borrowed) => borrowed.snapshot === snapshot)
  }

  async remove(snapshot: Snapshot, onInvalidated?: () => void): Promise<void> {
    onInvalidated?.()
    this.records.delete(snapshot)
  }
}

export interface RegistrySystem {
  routes: RoutingTable<Route>
  leases: LeaseRegistry
  policy: PolicyRules
  store: MemoryStore
  admission: UploadAdmission
  registry: SnapshotRegistry
  /** Hostnames that closed, but not by a ban. */
  closed: string[]
  /** Those that the policy does not route any more. */
  banned: string[]
  lease(
    name: string,
    preferences?: { cache?: boolean; cacheTtlS?: number },
    ttlS?: number,
    clientIp?: string,
  ): Lease
  /** Uploads a file of that content, and ends the upload. */
  publish(lease: Lease, content?: string, size?: number): Promise<void>
  decide(change: Partial<PolicyFile>): void
  /** The relay gets a certificate that it can serve sites with, or has none any more. */
  certify(canServe: boolean): void
  /** Returns whether visitors of the canonical hostname come to the snapshot. */
  isServed(hostname: string): boolean
}

export function createRegistrySystem(
  kept: readonly Kept[] = [],
  change: Partial<PolicyFile> = {},
): RegistrySystem {
  const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
  const leases = new LeaseRegistry(routes, new Reservations())
  const policy = new PolicyRules({ ...initialPolicy({ tcp: false, udp: false }), ...change })
  const store = new MemoryStore(kept)
  const admission = new UploadAdmission()
  let canServe = true
  const registry = new Registry({
    routes,
    policy,
    leases,
    store,
    maxBytes: MAX_BYTES,
    ttlMaxS: TTL_MAX_S,
    isUploading: (key) => admission.isUploading(key),
    canServe: () => canServe,
    serve: async () => {},
    log: createLog('silent'),
  })
  const closed: string[] = []
  const banned: string[] = []
  registry.onClosed((hostname, isBanned) => (isBanned ? banned : closed).push(hostname))
  policy.onChange(() => {
    for (const lease of leases) lease.setRouted(policy.routes(lease))
  })
  return {
    routes,
    leases,
    policy,
    store,
    admission,
    registry,
    closed,
    banned,
    lease: (name, preferences = {}, ttlS = 600, clientIp = addresses.clientIp) =>
      leases
        .draft(
          {
            identity: { name, address: `0x${'ab'.repeat(20)}` },
            allowCanonicalFallback: false,
            metadata: {},
            ttlS,
            preferences: { ...NO_PREFERENCES, cache: true, ...preferences },
          },
          { ...addresses, clientIp },
        )
        .commit(),
    publish: async (lease, content = 'hello', size = content.length) => {
      const upload = admission.admitUpload(lease)
      try {
        await publishBy(registry, store, upload, content, size)
      } finally {
        upload.end()
      }
    },
    certify: (can) => {
      canServe = can
      registry.judge()
    },
    decide: (changed) => policy.apply({ ...policy.file, ...changed }),
    isServed: (hostname) => {
      const route = routes.resolve(hostname)
      return route?.to === 'feature' && route.isOpen()
    },
  }
}

export async function publishBy(
  registry: SnapshotRegistry,
  store: MemoryStore,
  upload: Upload,
  content = 'hello',
  size: number = content.length,
): Promise<void> {
  const { identityKey, canonicalHostname: hostname } = upload.lease
  const manifest = manifestOf(content, size)
  await registry.publish(await store.receive({ manifest, owner: { identityKey, hostname } }), upload)
}

function manifestOf(content: string, size: number = content.length): StaticCacheManifest {
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { index: 'index.html', files: [{ path: 'index.html', size, sha256 }] }
}
