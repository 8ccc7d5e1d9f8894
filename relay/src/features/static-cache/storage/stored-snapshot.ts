// A stored snapshot: its place, its size, and its readers.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GroupCommit } from '../../../core/storage/group-commit.ts'
import { syncDirectory } from '../../../core/storage/state-file.ts'
import type { BorrowedSnapshot, Snapshot, SnapshotFile, SnapshotReader, StoredCoding } from '../snapshot.ts'
import type { Reservation } from './byte-budget.ts'
import {
  objectName,
  RECORD_DISK_BYTES,
  RECORD_FILE,
  type SnapshotHead,
  type SnapshotRecord,
  type StoredRecord,
  writeRecord,
} from './snapshot-files.ts'

export interface StoredParts extends StoredRecord {
  id: string
  directory: string
  head: SnapshotHead
  reservation: Reservation
}

export class StoredSnapshot {
  readonly snapshot: Snapshot
  readonly directory: string
  readonly reservation: Reservation
  readonly sequence: number
  #record: SnapshotRecord
  readonly #codings = new Map<string, Map<StoredCoding, number>>()
  /** Merges changes of the record: sites are renewed more often than a slow disk writes. */
  readonly #commits = new GroupCommit(() => this.#writeRecord())
  #isRemoved = false
  /** Its borrowers, with their readers. */
  readonly readers: Map<BorrowedSnapshot, SnapshotReader | undefined> = new Map()
  /** Resolves when its files are gone. */
  readonly erased: PromiseWithResolvers<void> = Promise.withResolvers<void>()

  constructor(parts: StoredParts) {
    const { id, head } = parts
    const { owner, manifest } = head
    this.directory = parts.directory
    this.reservation = parts.reservation
    this.sequence = parts.sequence
    this.#record = parts.record
    const files = manifest.files.map(({ path, size, sha256 }): [string, SnapshotFile] => {
      const codings = this.#codings.get(sha256) ?? new Map<StoredCoding, number>()
      this.#codings.set(sha256, codings)
      return [path, { path, size, sha256, codings }]
    })
    const { index, fallback: hasFallback = true } = manifest
    this.snapshot = { id, ...owner, index, hasFallback, files: new Map(files) }
  }

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  get record(): SnapshotRecord {
    return this.#record
  }

  pathOf(file: SnapshotFile, coding: StoredCoding | undefined): string {
    return join(this.directory, objectName(file.sha256, coding))
  }

  /** Records that a compressed form is there. */
  addCoding(file: SnapshotFile, coding: StoredCoding, size: number): void {
    this.#codings.get(file.sha256)?.set(coding, size)
  }

  /** Cuts those who read its files. */
  cutReaders(): void {
    for (const reader of [...this.readers.values()]) reader?.cut()
  }

  /** @throws StateFileError; the old record stays then */
  async rewrite(record: SnapshotRecord): Promise<void> {
    if (this.#isRemoved) return
    this.#record = record
    await this.#commits.commit()
  }

  /** Makes sure that the next start of the relay does not find the snapshot, even while visitors still read its files. @throws the system's error */
  async invalidate(): Promise<void> {
    this.#isRemoved = true
    await this.#commits.commit()
  }

  async #writeRecord(): Promise<void> {
    if (!this.#isRemoved) {
      const { directory, sequence } = this
      return await writeRecord(directory, { record: this.#record, sequence })
    }
    await rm(join(this.directory, RECORD_FILE), { force: true })
    this.reservation.giveBack(RECORD_DISK_BYTES)
    await syncDirectory(this.directory).catch(() => {})
  }
}
