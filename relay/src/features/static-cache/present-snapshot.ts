// A snapshot that is present, with what the registry knows of it: its end, its addresses, its lease, and the record on disk.

import { networkOf, wideNetworkOf } from '../../core/client-address/ip-address.ts'
import { toWallTime } from '../../core/clock.ts'
import type { ExpiryEntry } from '../../core/lease/expiry-heap.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { FeatureRoute } from '../../core/lease/route.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Snapshot } from './snapshot.ts'
import { CACHE_RECORD_LAG_MS } from './snapshot-sharing.ts'
import type { SnapshotRecord, SnapshotStore } from './storage/snapshot-store.ts'

interface PresentParts {
  store: Pick<SnapshotStore, 'rewrite'>
  route: FeatureRoute
  log: Logger
}

export class PresentSnapshot {
  readonly identityKey: string
  readonly hostname: string
  readonly route: FeatureRoute
  readonly #parts: PresentParts
  /** The active lease of the identity. */
  lease: Lease | undefined
  /** Place in the queue of expiries; the registry sets it before anything else. */
  declare expiry: ExpiryEntry<PresentSnapshot>
  /** Order of its last use: a later one is larger. */
  use = 0
  /** Relay time of its last use. */
  usedAt = 0
  /** True while the relay sends visitors to it. */
  isCovered = false
  #snapshot: Snapshot
  #clientIp: string
  #reportedIp: string | undefined
  #publishedAt: number
  /** The record as it is on disk, or soon will be. */
  #stored: SnapshotRecord
  #writing: Promise<void> | undefined
  #isGone = false

  constructor(snapshot: Snapshot, record: SnapshotRecord, parts: PresentParts) {
    this.identityKey = snapshot.identityKey
    this.hostname = snapshot.hostname
    this.route = parts.route
    this.#parts = parts
    this.#snapshot = snapshot
    this.#stored = record
    this.#publishedAt = record.publishedAt
    this.#clientIp = record.clientIp
    this.#reportedIp = record.reportedIp
  }

  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Relay time. */
  get expiresAt(): number {
    return this.expiry.at
  }

  /** Wall clock, in milliseconds since the epoch. */
  get publishedAt(): number {
    return this.#publishedAt
  }

  /** The addresses of the last lease, by which the policy judges. */
  get clientIp(): string {
    return this.#clientIp
  }

  get network(): string {
    return networkOf(this.#clientIp)
  }

  get wideNetwork(): string {
    return wideNetworkOf(this.#clientIp)
  }

  get reportedIp(): string | undefined {
    return this.#reportedIp
  }

  /** @returns the snapshot that was there before */
  replace(snapshot: Snapshot, record: SnapshotRecord): Snapshot {
    const before = this.#snapshot
    this.#snapshot = snapshot
    this.#stored = record
    this.#publishedAt = record.publishedAt
    return before
  }

  /** Takes over a new lease and its addresses. */
  join(lease: Lease): void {
    this.lease = lease
    this.#clientIp = lease.clientIp
    this.#reportedIp = lease.reportedIp
  }

  /** Writes the record if it is out of date by more than a small tolerance. */
  store(): void {
    if (this.#writing === undefined && !this.#isGone && this.#isStale()) this.#writing = this.#write()
  }

  /** Ends the writing of its record, because the snapshot is removed. */
  end(): void {
    this.#isGone = true
    this.lease = undefined
  }

  /** Resolves when nothing is being written. Never rejects. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  get #record(): SnapshotRecord {
    return recordOf(this, this.expiresAt, this.#publishedAt)
  }

  /** An expiry that became earlier is written at once: a restart must not undo it. */
  #isStale(): boolean {
    const { expiresAt, clientIp, reportedIp } = this.#record
    const { expiresAt: stored, ...from } = this.#stored
    const isLate = expiresAt < stored || expiresAt >= stored + CACHE_RECORD_LAG_MS
    return isLate || clientIp !== from.clientIp || reportedIp !== from.reportedIp
  }

  /** Makes one write at a time. A failed write is not retried until something changes. */
  async #write(): Promise<void> {
    const { store, log } = this.#parts
    try {
      while (!this.#isGone && this.#isStale()) {
        this.#stored = this.#record
        await store.rewrite(this.#snapshot, this.#stored)
      }
    } catch (error) {
      log.error({ err: error, hostname: this.hostname }, 'the record of a snapshot was not written')
    } finally {
      this.#writing = undefined
    }
  }
}

/** @param expiresAt relay time @param publishedAt wall clock */
export function recordOf(
  { clientIp, reportedIp }: Pick<Lease, 'clientIp' | 'reportedIp'>,
  expiresAt: number,
  publishedAt: number,
): SnapshotRecord {
  return { expiresAt: toWallTime(expiresAt), publishedAt, clientIp, reportedIp }
}
