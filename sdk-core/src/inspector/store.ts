// The entries of an inspector: bounded in number and in bytes, and with a revision for those who follow the list.

import type { Entry } from './entry.ts'
import { REMOVALS_MAX } from './limits.ts'

/** A StoredEntry has what the store counts. */
export interface StoredEntry extends Entry {
  /** The bytes of memory that it takes. */
  bytes: number
  /** The revision of its last change. */
  revision: number
}

/** Dropped counts what the store dropped for want of room. */
export interface Dropped {
  entries: number
  bytes: number
}

interface Removal {
  id: string
  revision: number
}

/** The entries of one tunnel, oldest first. */
interface Share {
  entries: Map<string, StoredEntry>
  bytes: number
}

export class EntryStore {
  readonly #limit: number
  readonly #maxBytes: number
  readonly #onChange: () => void
  readonly #entries = new Map<string, StoredEntry>()
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

  get size(): number {
    return this.#entries.size
  }

  /** Returns all, oldest first. */
  all(): StoredEntry[] {
    return [...this.#entries.values()]
  }

  get(id: string): StoredEntry | undefined {
    return this.#entries.get(id)
  }

  add(entry: StoredEntry): void {
    this.#entries.set(entry.id, entry)
    const share = this.#shares.get(entry.tunnel) ?? { entries: new Map(), bytes: 0 }
    this.#shares.set(entry.tunnel, share)
    share.entries.set(entry.id, entry)
    const { bytes } = entry
    entry.bytes = 0
    this.changed(entry, bytes)
  }

  /** Counts the bytes by which an entry grew. One that was dropped is not counted any more. */
  changed(entry: StoredEntry, bytes: number): void {
    if (this.#entries.get(entry.id) !== entry) return
    entry.bytes += bytes
    this.#bytes += bytes
    this.#shares.get(entry.tunnel)!.bytes += bytes
    this.#revision += 1
    entry.revision = this.#revision
    while (this.#entries.size > this.#limit) this.#dropOf((share) => share.entries.size)
    while (this.#bytes > this.#maxBytes && this.#entries.size > 0) this.#dropOf((share) => share.bytes)
    this.#onChange()
  }

  clear(): void {
    for (const entry of this.all()) this.#remove(entry)
    this.dropped = { entries: 0, bytes: 0 }
    this.#onChange()
  }

  /** @returns the entries that changed after a revision, in the order of these changes, and those removed; undefined when that is not known */
  since(revision: number): { changed: StoredEntry[]; removed: string[] } | undefined {
    if (revision < this.#forgotten || revision > this.#revision) return undefined
    const changed = this.all().filter((entry) => entry.revision > revision)
    changed.sort((one, other) => one.revision - other.revision)
    const removed = this.#removals.filter((removal) => removal.revision > revision)
    return { changed, removed: removed.map(({ id }) => id) }
  }

  /** Drops the oldest entry of the tunnel that has most: a busy one does not push out those of the others. */
  #dropOf(measure: (share: Share) => number): void {
    let most: Share | undefined
    for (const share of this.#shares.values())
      if (share.entries.size > 0 && (!most || measure(share) > measure(most))) most = share
    const [oldest] = most!.entries.values()
    this.dropped.entries += 1
    this.dropped.bytes += oldest!.bytes
    this.#remove(oldest!)
  }

  #remove(entry: StoredEntry): void {
    const share = this.#shares.get(entry.tunnel)!
    this.#entries.delete(entry.id)
    share.entries.delete(entry.id)
    share.bytes -= entry.bytes
    this.#bytes -= entry.bytes
    this.#revision += 1
    this.#removals.push({ id: entry.id, revision: this.#revision })
    if (this.#removals.length > 2 * REMOVALS_MAX) {
      this.#forgotten = this.#removals[REMOVALS_MAX - 1]!.revision
      this.#removals = this.#removals.slice(REMOVALS_MAX)
    }
    if (share.entries.size === 0) this.#shares.delete(entry.tunnel)
  }
}
