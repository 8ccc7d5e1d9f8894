// The entries of an inspector: bounded in number and in bytes, and with a revision for those who follow the list.

import type { Entry } from './entry.ts'
import { REMOVALS_MAX } from './limits.ts'

/** The entries of one tunnel: a list from the oldest to the newest, which costs less than a Map when each request changes it. */
interface Share {
  oldest: StoredEntry | undefined
  newest: StoredEntry | undefined
  size: number
  bytes: number
}

/** A StoredEntry has what the store counts and links. */
export interface StoredEntry extends Entry {
  /** The number in its id. */
  readonly number: number
  /** The bytes of memory that it takes. */
  bytes: number
  /** The revision of its last change. */
  revision: number
  /** Undefined when it is not in the store, or not any more. */
  share: Share | undefined
  older: StoredEntry | undefined
  newer: StoredEntry | undefined
  /** Called when the store drops it. */
  dropped?(): void
}

/** Dropped counts what the store dropped for want of room. */
export interface Dropped {
  entries: number
  bytes: number
}

interface Removal {
  number: number
  revision: number
}

export class EntryStore {
  readonly #limit: number
  readonly #maxBytes: number
  readonly #onChange: () => void
  readonly #entries = new Map<number, StoredEntry>()
  readonly #shares = new Map<string | undefined, Share>()
  #removals: Removal[] = []
  #bytes = 0
  #revision = 0
  /** The revision up to which removals are no longer remembered. */
  #forgotten = 0
  dropped: Dropped = { entries: 0, bytes: 0 }

  constructor(limit: number, maxBytes: number, onChange: () => void) {
    this.#limit = limit
    this.#maxBytes = maxBytes
    this.#onChange = onChange
  }

  get revision(): number {
    return this.#revision
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns all, oldest first. */
  all(): StoredEntry[] {
    return [...this.#entries.values()]
  }

  get(number: number): StoredEntry | undefined {
    return this.#entries.get(number)
  }

  add(entry: StoredEntry): void {
    this.#entries.set(entry.number, entry)
    const share = this.#shareOf(entry.tunnel)
    entry.share = share
    entry.older = share.newest
    if (share.newest) share.newest.newer = entry
    else share.oldest = entry
    share.newest = entry
    share.size += 1
    const { bytes } = entry
    entry.bytes = 0
    this.changed(entry, bytes)
    while (this.#entries.size > this.#limit) this.#dropOf((one) => one.size)
  }

  /** Counts the bytes by which an entry grew. One that was dropped is not counted any more. */
  changed(entry: StoredEntry, bytes: number): void {
    const { share } = entry
    if (share === undefined) return
    entry.bytes += bytes
    share.bytes += bytes
    this.#bytes += bytes
    this.#revision += 1
    entry.revision = this.#revision
    while (this.#bytes > this.#maxBytes && this.#entries.size > 0) this.#dropOf((one) => one.bytes)
    this.#onChange()
  }

  clear(): void {
    for (const entry of this.all()) this.#remove(entry)
    this.dropped = { entries: 0, bytes: 0 }
    this.#onChange()
  }

  /** @returns the entries that changed after a revision, in the order of these changes, and the numbers of those removed; undefined when that is not known */
  since(revision: number): { changed: StoredEntry[]; removed: number[] } | undefined {
    if (revision < this.#forgotten || revision > this.#revision) return undefined
    const changed = this.all().filter((entry) => entry.revision > revision)
    changed.sort((one, other) => one.revision - other.revision)
    const removed = this.#removals.filter((removal) => removal.revision > revision)
    return { changed, removed: removed.map(({ number }) => number) }
  }

  #shareOf(tunnel: string | undefined): Share {
    const known = this.#shares.get(tunnel)
    if (known) return known
    const share: Share = { oldest: undefined, newest: undefined, size: 0, bytes: 0 }
    this.#shares.set(tunnel, share)
    return share
  }

  /** Drops the oldest entry of the tunnel that has most: a busy one does not push out those of the others. */
  #dropOf(measure: (share: Share) => number): void {
    let most: Share | undefined
    for (const share of this.#shares.values()) if (!most || measure(share) > measure(most)) most = share
    const oldest = most!.oldest!
    this.dropped.entries += 1
    this.dropped.bytes += oldest.bytes
    this.#remove(oldest)
  }

  #remove(entry: StoredEntry): void {
    const share = entry.share!
    this.#entries.delete(entry.number)
    if (entry.older) entry.older.newer = entry.newer
    else share.oldest = entry.newer
    if (entry.newer) entry.newer.older = entry.older
    else share.newest = entry.older
    // A removed entry that leads to others would keep them from being collected early.
    entry.older = undefined
    entry.newer = undefined
    entry.share = undefined
    share.size -= 1
    entry.dropped?.()
    share.bytes -= entry.bytes
    this.#bytes -= entry.bytes
    this.#revision += 1
    this.#removals.push({ number: entry.number, revision: this.#revision })
    if (this.#removals.length > 2 * REMOVALS_MAX) {
      this.#forgotten = this.#removals[REMOVALS_MAX - 1]!.revision
      this.#removals = this.#removals.slice(REMOVALS_MAX)
    }
    if (share.size === 0) this.#shares.delete(entry.tunnel)
  }
}
