// Defines a snapshot, the stored files of a site, and what the server of the cache needs of the snapshots.

import type { Lease } from '../../core/lease/lease.ts'

/** A form in which a file is stored beside the one that the site uploaded. */
export type StoredCoding = 'br' | 'gzip'

export interface SnapshotFile {
  /** As in the manifest. */
  readonly path: string
  /** Bytes as the site uploaded them. */
  readonly size: number
  /** 64 hexadecimal digits, in lower case. */
  readonly sha256: string
  /** Bytes of the compressed forms that are there by now. A form that saves little is not made. */
  readonly codings: ReadonlyMap<StoredCoding, number>
}

/** The files of one site as it uploaded them, all or none. A snapshot never changes, except that its compressed forms come later. */
export interface Snapshot {
  /** Random: names the directory of the snapshot. */
  readonly id: string
  readonly identityKey: string
  /** Canonical hostname of the site. */
  readonly hostname: string
  /** Path of the file for `/`. */
  readonly index: string
  /** Whether {@link index} is also used for unknown paths without an extension. */
  readonly hasFallback: boolean
  /** By path. */
  readonly files: ReadonlyMap<string, SnapshotFile>
}

/** A snapshot that is being read: its files stay, and count in the budget, until it is released. */
export interface BorrowedSnapshot {
  readonly snapshot: Snapshot
  /** Absolute path of the stored file. @param coding undefined: as the site uploaded it */
  pathOf(file: SnapshotFile, coding: StoredCoding | undefined): string
  /** To be called once. */
  release(): void
}

/** Somebody who reads files of a snapshot. */
export interface SnapshotReader {
  /** Ends the reading: the snapshot is released soon. */
  cut(): void
}

/** The snapshots that visitors may have now: those that are present, not expired, and whose identity the policy routes. */
export interface ServedSnapshots {
  /**
   * @param reader is cut when its site would otherwise take too much of the disk with removed files
   * @returns undefined when visitors may not, or no longer, have a snapshot at this hostname
   */
  borrow(hostname: string, reader?: SnapshotReader): BorrowedSnapshot | undefined
  /** The active lease of the site; undefined while the site is away. */
  leaseOf(hostname: string): Lease | undefined
  /**
   * Adds a listener, called when the relay may no longer end TLS for a hostname: its snapshot was removed, has expired,
   * or the policy does not route its identity. The connections of that hostname then end: within a second if the policy
   * does not route the identity, now or later. Otherwise they take no more requests, and end when their responses, read
   * from the borrowed files, have been sent, or after `CACHE_CLOSING_MAX_MS`.
   * @param listener `isBanned`: whether the policy does not route the identity
   */
  onClosed(listener: (hostname: string, isBanned: boolean) => void): void
}

/** The source of the answer to a visitor: from the stored files, by the live site, or by saying that the site is away. */
export type CacheResult = 'hit' | 'live' | 'away'

/** Called once for each request of a visitor, for the metrics. */
export type CountCacheResult = (result: CacheResult) => void
