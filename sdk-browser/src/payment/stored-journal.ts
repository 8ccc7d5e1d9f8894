// The journal of payments in IndexedDB. Each record is on the disk before the facilitator continues.

import { KeptRecords, PaymentError, type PaymentJournal, type PaymentRecord } from '@svc/sdk-core/payment'

const DATABASE = 'svc-payments'
const VERSION = 1
const STORE = 'record'
/** The journal looks for expired records once it has this many. */
const SWEPT_FROM = 1_024

/** A record as it is stored, by its digest. */
interface Entry {
  record: PaymentRecord
  /** Later records have greater numbers; the oldest are dropped first. */
  order: number
}

/**
 * Opens the journal of a facilitator in this page, for `createFacilitator`. The pages of an origin share it.
 * @param name distinguishes journals of one origin
 * @throws PaymentError `journal_failed` where there is no storage, such as in a sandboxed frame
 */
export async function openPaymentJournal(name = 'default'): Promise<PaymentJournal> {
  try {
    const database = await open(`${DATABASE}-${name}`)
    const entries = await inStore<Entry[]>(database, 'readonly', (store) => store.getAll())
    return new StoredJournal(database, entries)
  } catch (cause) {
    throw new PaymentError('journal_failed', 'the journal of payments cannot be opened', { cause })
  }
}

class StoredJournal implements PaymentJournal {
  readonly #database: IDBDatabase
  readonly #kept = new KeptRecords()
  /** The digests in the store, as far as this page knows. */
  readonly #stored = new Set<string>()
  #order = 0

  constructor(database: IDBDatabase, entries: Entry[]) {
    this.#database = database
    for (const { record, order } of entries.toSorted((a, b) => a.order - b.order)) {
      this.#kept.set(record)
      this.#stored.add(record.digest)
      this.#order = order
    }
  }

  async note(record: PaymentRecord): Promise<void> {
    const { digest } = record
    const before = this.#kept.find(digest)
    this.#kept.set(record)
    this.#stored.add(digest)
    this.#order += 1
    const entry: Entry = { record, order: this.#order }
    const dropped = this.#dropped()
    try {
      await inStore(this.#database, 'readwrite', (store) => {
        for (const old of dropped) store.delete(old)
        return store.put(entry, digest)
      })
    } catch (cause) {
      this.#kept.restore(digest, before)
      throw new PaymentError('journal_failed', 'the journal of payments cannot be written', { cause })
    }
  }

  async find(digest: string): Promise<PaymentRecord | undefined> {
    const known = this.#kept.find(digest)
    if (known?.outcome) return known
    // Another page of this origin may have stored it.
    const entry = await inStore<Entry | undefined>(this.#database, 'readonly', (store) => store.get(digest))
    return entry?.record ?? known
  }

  async open(): Promise<PaymentRecord[]> {
    return this.#kept.open()
  }

  /** @returns digests that are still stored but no longer needed */
  #dropped(): string[] {
    if (this.#stored.size <= SWEPT_FROM) return []
    const kept = new Set(this.#kept.all().map(({ digest }) => digest))
    const dropped = [...this.#stored].filter((digest) => !kept.has(digest))
    for (const digest of dropped) this.#stored.delete(digest)
    return dropped
  }
}

/** Runs one transaction, and once it is on the disk resolves with the result of the request that `use` returns. */
function inStore<Result>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode, { durability: 'strict' })
    const request = use(transaction.objectStore(STORE))
    transaction.oncomplete = () => resolve(request.result)
    transaction.onabort = () => reject(transaction.error)
  })
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, VERSION)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
