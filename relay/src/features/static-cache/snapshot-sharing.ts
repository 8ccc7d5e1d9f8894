// The interface between the snapshots of this machine and the other machines of the relay: one machine has a site's
// snapshot.

import { hash } from 'node:crypto'
import type { FeatureRoute } from '../../core/lease/route.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The time, in milliseconds, by which a snapshot may end later than its record says, so that a renewal rarely writes the
 * record. After a crash the snapshot may end that much earlier.
 */
export const CACHE_RECORD_LAG_MS = 60_000

/** A snapshot of this machine, as the others know it. */
export interface SharedSnapshot {
  identityKey: string
  /** Canonical hostname. */
  hostname: string
  /** Digest of its manifest: equal manifests have equal digests. */
  digest: string
  /** The number of files, and their bytes. */
  files: number
  bytes: number
  /** Wall clock. */
  publishedAt: number
  /** Relay time. */
  expiresAt: number
}

/** A snapshot of another machine. */
export interface RemoteSnapshot extends SharedSnapshot {
  /** Name of the machine. */
  machine: string
  /** Whether visitors who connect to this machine get it. */
  isReachable: boolean
}

/** Bytes of the disk: those that caches use, and those that they may use. */
export interface CacheUse {
  usedBytes: number
  maxBytes: number
}

/** The snapshots of this machine. */
export interface LocalSnapshots {
  /** Lists the snapshots that have not expired. */
  all(): Iterable<SharedSnapshot>
  use(): CacheUse
  /** The route of visitors to a snapshot that they may have here. */
  routeOf(hostname: string): FeatureRoute | undefined
  /** A site has removed its snapshot at another machine, or has stored a later one there. */
  removedElsewhere(identityKey: string): void
}

export interface SnapshotSharing {
  /** Name of this machine. */
  readonly machine: string
  /** Announces this machine's snapshots. Called once, before any other method. */
  join(local: LocalSnapshots): void
  /** Lists the snapshots of the other machines that have not expired. */
  elsewhere(): Iterable<RemoteSnapshot>
  /** Sums what the caches of the other machines use. */
  useElsewhere(): CacheUse
  /** Returns the expiry, in relay time, of a snapshot at another machine that can be reached. */
  find(identityKey: string, digest: string): number | undefined
  /** Throws while this machine cannot inform the others of a change. @throws RelayError `feature_unavailable` */
  requireOthers(): void
  /**
   * Makes this machine the one that has a site's snapshot. Resolves when the machines that can be reached know it.
   * @throws RelayError `feature_unavailable` while they cannot be informed
   */
  put(snapshot: SharedSnapshot): Promise<void>
  /** Removes a site's snapshot wherever it is. Resolves and throws as {@link put} does. */
  remove(identityKey: string): Promise<void>
  /** Announces that the expiry has changed. Never rejects. */
  moved(snapshot: SharedSnapshot): Promise<void>
  /** Announces that this machine no longer has a site's snapshot. Never rejects. */
  gone(identityKey: string): Promise<void>
}

/** The members that a manifest and a snapshot of it have in common. */
interface Described {
  index: string
  fallback?: boolean | undefined
  files: Iterable<{ path: string; size: number; sha256: string }>
}

export function digestOf({ index, fallback = true, files }: Described): string {
  const lines = Array.from(files, ({ path, size, sha256 }) => JSON.stringify([path, size, sha256])).sort()
  return hash('sha256', [JSON.stringify(fallback ? index : [index]), ...lines].join('\n'))
}

export function digestOfSnapshot({ index, hasFallback, files }: Snapshot): string {
  return digestOf({ index, fallback: hasFallback, files: files.values() })
}
