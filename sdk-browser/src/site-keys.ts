// Stores the keys and chains of sites' own certificates in IndexedDB. No script can read the private keys.

import {
  createWebCryptoKey,
  type SiteName,
  type StoredSiteKey,
  siteKeyOf,
  type WebCryptoKey,
} from '@svc/sdk-core'
import { inStore } from './database.ts'

export { domainStore } from './domain-store.ts'

const DATABASE = 'svc-certificates'
const STORE = 'site'
/** A key without a certificate is deleted after this many milliseconds. */
const UNUSED_MAX_MS: number = 24 * 60 * 60_000

/** What is stored for a site. */
interface Entry extends WebCryptoKey {
  chain?: readonly Uint8Array[]
  /** From this time on, in milliseconds since the epoch, the entry may be deleted. */
  expiresAt: number
}

/**
 * Loads the key of a site, or creates it on first use. Where there is no storage, as in a sandboxed frame, the key
 * lives as long as the page.
 */
export async function loadStoredKey({ name, address, relay }: SiteName): Promise<StoredSiteKey> {
  const id = `${name}-${address}@${relay}`
  const read = await inStore(DATABASE, STORE, 'readonly', (store) => store.get(id)).catch(() => undefined)
  const entry = isEntry(read) ? read : await create(id)
  return {
    key: siteKeyOf(entry),
    chain: entry.chain,
    save: async (chain, expiresAt) => {
      // Without storage, the next page requests its own certificate.
      await inStore(DATABASE, STORE, 'readwrite', (store) =>
        store.put({ ...entry, chain, expiresAt }, id),
      ).catch(() => {})
    },
  }
}

/** Makes a key and stores it, unless another page was faster: then it uses that page's key. */
async function create(id: string): Promise<Entry> {
  const now = Date.now()
  const made: Entry = { ...(await createWebCryptoKey()), expiresAt: now + UNUSED_MAX_MS }
  const kept = await inStore(DATABASE, STORE, 'readwrite', (store) => {
    deleteExpired(store, id, now)
    const found = store.get(id)
    found.onsuccess = () => {
      if (!isEntry(found.result)) store.put(made, id)
    }
    return found
  }).catch(() => undefined)
  return isEntry(kept) ? kept : made
}

/** Deletes expired entries, so that sites that are no longer published do not fill the database. */
function deleteExpired(store: IDBObjectStore, id: string, now: number): void {
  const all = store.openCursor()
  all.onsuccess = () => {
    const cursor = all.result
    if (!cursor) return
    if (cursor.key !== id && !(isEntry(cursor.value) && cursor.value.expiresAt > now)) cursor.delete()
    cursor.continue()
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && 'privateKey' in value && 'publicKey' in value
}
