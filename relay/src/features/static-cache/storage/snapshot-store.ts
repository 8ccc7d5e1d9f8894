// Keeps the files of snapshots on disk, within a budget: whole, named by their hashes, and never half published.

import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { StaticCacheManifest } from '@svc/protocol'
import { CLOSE_GRACE_MS } from '../../../core/ingress/open-sockets.ts'
import type { Logger } from '../../../core/log/log.ts'
import { syncDirectory } from '../../../core/storage/state-file.ts'
import type { BorrowedSnapshot, Snapshot, SnapshotReader } from '../snapshot.ts'
import { ByteBudget, type Reservation } from './byte-budget.ts'
import { CompressedForms } from './compressed-forms.ts'
import {
  DIRECTORY_MODE,
  type SnapshotHead,
  type SnapshotOwner,
  type SnapshotRecord,
  snapshotDiskBytes,
  writeRecord,
} from './snapshot-files.ts'
import { scanSnapshots } from './snapshot-scan.ts'
import { type StoredParts, StoredSnapshot } from './stored-snapshot.ts'
import { writeUpload } from './write-upload.ts'

/** Share of `STATIC_CACHE_BYTES` that the files of one snapshot may take. */
export const CACHE_EXPOSURE_SHARE = 0.25

export type { SnapshotRecord }

export interface KeptSnapshot {
  snapshot: Snapshot
  record: SnapshotRecord
}

/** Files that were uploaded whole. The caller must call one of the two methods, once. */
export interface StagedSnapshot {
  /** @throws CacheFullError; nothing is left then */
  publish(record: SnapshotRecord): Promise<Snapshot>
  discard(): Promise<void>
}

export interface ReceiveParts {
  manifest: StaticCacheManifest
  owner: SnapshotOwner
  /** The contents of all files, in the order of the manifest. */
  objects: AsyncIterable<AsyncIterable<Buffer>>
  /** Removes a snapshot when `bytes` more are needed. @returns false when there is none to remove */
  makeRoom: (bytes: number) => Promise<boolean>
  /** Ends the upload: {@link SnapshotStore.receive} rejects with its reason. */
  signal: AbortSignal
}

/** The budget of the cache is used up, or the disk is full. */
export class CacheFullError extends Error {
  override readonly name = 'CacheFullError'
}

/** The disk is full, the quota of the account is used up, or a file may not become so large. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

export class SnapshotStore {
  readonly #staging: string
  readonly #snapshots: string
  readonly #budget: ByteBudget
  readonly #log: Logger
  readonly #forms: CompressedForms
  readonly #stored = new Map<Snapshot, StoredSnapshot>()
  readonly #staged = new Set<StagedSnapshot>()
  /** Work for which {@link close} waits. */
  readonly #running = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  /** Sequence number of the last publication. */
  #sequence = 0
  /** The snapshots that were there at start: the last of each identity, whole and not expired. */
  readonly kept: readonly KeptSnapshot[]

  /**
   * Checks what an earlier run has left, some 200 MB a second, and removes everything else from the folders `snapshots`
   * and `staging` of the directory. Files beside those stay.
   * @throws Error when the directory cannot be used
   */
  static async open(parts: { directory: string; bytes: number; log: Logger }): Promise<SnapshotStore> {
    await ensureDirectory(parts.directory)
    const staging = await ensureDirectory(join(parts.directory, 'staging'))
    const snapshots = await ensureDirectory(join(parts.directory, 'snapshots'))
    for (const name of await readdir(staging)) await rm(join(staging, name), { recursive: true, force: true })
    const budget = new ByteBudget(parts.bytes)
    const stored: StoredSnapshot[] = []
    // Those that expire last are kept, if the operator has lowered the budget.
    const found = (await scanSnapshots(snapshots)).sort((a, b) => b.record.expiresAt - a.record.expiresAt)
    for (const one of found) {
      const reservation = budget.reserve(snapshotDiskBytes(one.head) + one.formBytes)
      if (reservation === undefined) await rm(one.directory, { recursive: true, force: true })
      else stored.push(new StoredSnapshot({ ...one, reservation }))
    }
    return new SnapshotStore({ staging, snapshots, budget, log: parts.log, stored })
  }

  private constructor(parts: {
    staging: string
    snapshots: string
    budget: ByteBudget
    log: Logger
    stored: readonly StoredSnapshot[]
  }) {
    this.#staging = parts.staging
    this.#snapshots = parts.snapshots
    this.#budget = parts.budget
    this.#log = parts.log
    this.#forms = new CompressedForms(parts.log)
    this.kept = parts.stored.map(({ snapshot, record }) => ({ snapshot, record }))
    for (const stored of parts.stored) {
      this.#sequence = Math.max(this.#sequence, stored.sequence)
      this.#keep(stored)
    }
  }

  /** Bytes of the disk that are used or reserved, in whole blocks. */
  get usedBytes(): number {
    return this.#budget.used
  }

  /**
   * Writes the files of a snapshot while they arrive. Whatever it throws, nothing is left of the upload.
   * @throws CacheFullError
   * @throws RelayError `invalid_request` when a size or a hash differs from the manifest
   * @throws whatever `objects` throws, and the reason of the signal
   */
  async receive(parts: ReceiveParts): Promise<StagedSnapshot> {
    return await this.#track(this.#receive(parts))
  }

  /**
   * Replaces the snapshot's record, whole or not at all. Does nothing once the snapshot is removed.
   * @throws StateFileError when it cannot be written: the next start finds the old one
   */
  async rewrite(snapshot: Snapshot, record: SnapshotRecord): Promise<void> {
    const stored = this.#stored.get(snapshot)
    if (stored !== undefined) await this.#track(stored.rewrite(record))
  }

  /** @param reader undefined for one that releases it soon @throws Error for a snapshot that is removed */
  borrow(snapshot: Snapshot, reader?: SnapshotReader): BorrowedSnapshot {
    const stored = this.#stored.get(snapshot)
    if (stored === undefined || stored.isRemoved) throw new Error('the snapshot is removed')
    const release = (): void => {
      const isLast = stored.readers.delete(borrowed) && stored.readers.size === 0
      if (stored.isRemoved && isLast) void this.#track(this.#erase(stored))
    }
    const borrowed: BorrowedSnapshot = {
      snapshot,
      pathOf: (file, coding) => stored.pathOf(file, coding),
      release,
    }
    stored.readers.set(borrowed, reader)
    return borrowed
  }

  /** Returns whether somebody has borrowed the snapshot: its removal would free nothing yet. */
  isRead(snapshot: Snapshot): boolean {
    return (this.#stored.get(snapshot)?.readers.size ?? 0) > 0
  }

  /**
   * Removes a snapshot, at once for new readers. Its files stay, and count, until the last borrower releases it; this
   * does not wait for that. Does nothing if it is already removed.
   * @param onInvalidated called when the next start of the relay would no longer find the snapshot
   */
  async remove(snapshot: Snapshot, onInvalidated?: () => void): Promise<void> {
    const stored = this.#stored.get(snapshot)
    if (stored !== undefined && !stored.isRemoved) await this.#track(this.#remove(stored, onInvalidated))
  }

  /** Ends uploads, discards what is staged, and waits until nothing is being written. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the static cache is closed'))
    await this.#forms.close()
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await Promise.all([...this.#staged].map((staged) => staged.discard()))
  }

  async #receive({ manifest, owner, objects, makeRoom, signal }: ReceiveParts): Promise<StagedSnapshot> {
    const head = { owner, manifest }
    const ended = AbortSignal.any([signal, this.#closing.signal])
    const bytes = snapshotDiskBytes(head)
    await this.#requireShare(owner.identityKey, bytes)
    const reservation = await this.#reserve(bytes, makeRoom, ended)
    const id = randomUUID()
    const directory = join(this.#staging, id)
    try {
      await mkdir(directory, { mode: DIRECTORY_MODE })
      await writeUpload(directory, { head, objects, signal: ended })
    } catch (error) {
      await this.#discard(directory, reservation)
      throw fullOr(error)
    }
    return this.#stage({ id, directory, head, reservation })
  }

  /**
   * Cuts readers of a site's removed files, the oldest first, until the rest and an upload of the site take no more
   * than the share of one site. Otherwise a site and one slow visitor could fill the cache with files that nobody can
   * request any more.
   * @throws CacheFullError when they do not release them
   */
  async #requireShare(identityKey: string, bytes: number): Promise<void> {
    const removed = [...this.#stored.values()].filter(
      ({ isRemoved, snapshot }) => isRemoved && snapshot.identityKey === identityKey,
    )
    let over = bytes - Math.floor(this.#budget.limit * CACHE_EXPOSURE_SHARE)
    for (const { reservation } of removed) over += reservation.bytes
    const ending: StoredSnapshot[] = []
    for (const stored of removed) {
      if (over <= 0) break
      over -= stored.reservation.bytes
      stored.cutReaders()
      ending.push(stored)
    }
    if (ending.length === 0) return
    const areGone = Promise.all(ending.map(({ erased }) => erased.promise)).then(() => true)
    if (!(await Promise.race([areGone, setTimeout(CLOSE_GRACE_MS, false, { ref: false })])))
      throw new CacheFullError('files that the site has removed are still being read')
  }

  async #reserve(
    bytes: number,
    makeRoom: (bytes: number) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<Reservation> {
    const { limit } = this.#budget
    if (bytes > limit)
      throw new CacheFullError(`the upload takes ${bytes} bytes of the disk; ${limit} may be used`)
    for (;;) {
      signal.throwIfAborted()
      const reservation = this.#budget.reserve(bytes)
      if (reservation !== undefined) return reservation
      if (!(await makeRoom(this.usedBytes + bytes - limit)))
        throw new CacheFullError(
          `the upload takes ${bytes} bytes of the disk; ${limit - this.usedBytes} are free`,
        )
    }
  }

  #stage(parts: {
    id: string
    directory: string
    head: SnapshotHead
    reservation: Reservation
  }): StagedSnapshot {
    let isOpen = true
    const finish = (): boolean => {
      const wasOpen = isOpen
      isOpen = false
      this.#staged.delete(staged)
      return wasOpen
    }
    const staged: StagedSnapshot = {
      publish: async (record) => {
        if (!finish()) throw new Error('the upload is published or discarded already')
        return await this.#track(this.#publish({ ...parts, record }))
      },
      discard: async () => {
        if (finish()) await this.#track(this.#discard(parts.directory, parts.reservation))
      },
    }
    this.#staged.add(staged)
    return staged
  }

  async #publish(parts: Omit<StoredParts, 'sequence'>): Promise<Snapshot> {
    const directory = join(this.#snapshots, parts.id)
    this.#sequence += 1
    const sequence = this.#sequence
    try {
      await writeRecord(parts.directory, { record: parts.record, sequence })
      await rename(parts.directory, directory)
    } catch (error) {
      await this.#discard(parts.directory, parts.reservation)
      throw fullOr(error)
    }
    // The snapshot is published. At worst, a crash of the machine now loses it.
    await syncDirectory(this.#snapshots).catch(() => {})
    const stored = new StoredSnapshot({ ...parts, directory, sequence })
    this.#keep(stored)
    return stored.snapshot
  }

  #keep(stored: StoredSnapshot): void {
    this.#stored.set(stored.snapshot, stored)
    if (!this.#closing.signal.aborted) this.#forms.add(stored)
  }

  async #remove(stored: StoredSnapshot, onInvalidated?: () => void): Promise<void> {
    const dropped = this.#forms.drop(stored)
    await stored.invalidate().catch((error: unknown) => this.#cannotRemove(stored.directory, error))
    onInvalidated?.()
    await dropped
    if (stored.readers.size === 0) await this.#erase(stored)
  }

  /** Called by the last borrower, and by the removal if there is none: at most one of them finds the snapshot. */
  async #erase(stored: StoredSnapshot): Promise<void> {
    if (!this.#stored.delete(stored.snapshot)) return
    await this.#discard(stored.directory, stored.reservation)
    stored.erased.resolve()
  }

  /** If the files cannot be removed, their bytes still count until the next start removes them. */
  async #discard(directory: string, reservation: Reservation): Promise<void> {
    try {
      await rm(directory, { recursive: true, force: true })
      reservation.release()
    } catch (error) {
      this.#cannotRemove(directory, error)
    }
  }

  #cannotRemove(directory: string, error: unknown): void {
    this.#log.error({ directory, err: error }, 'the relay cannot remove files of the static cache')
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    return await work.finally(() => this.#running.delete(work))
  }
}

/** @throws Error for a link: the operator would not expect that the relay removes files elsewhere */
async function ensureDirectory(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: DIRECTORY_MODE })
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a directory`)
  await chmod(path, DIRECTORY_MODE)
  return path
}

function fullOr(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  return FULL.has(code ?? '')
    ? new CacheFullError('the disk of the static cache is full', { cause: error })
    : error
}
