// Stores the ACME account and the certificates of custom domains in IndexedDB. No script can read the private keys.

import {
  createWebCryptoKey,
  type DomainEntry,
  type DomainStore,
  SvcError,
  siteKeyOf,
  type WebCryptoKey,
} from '@svc/sdk-core'
import { inStore } from './database.ts'

const DATABASE = 'svc-domains'
const STORE = 'entry'

interface Entry extends WebCryptoKey {
  text?: string
}

/** The store of all pages of the origin. A browser ends the lock of a page that is closed, and freezes no page that has one. */
export const domainStore: DomainStore = {
  load: loadDomainEntry,
  lock: (id, task, signal) => navigator.locks.request(`${DATABASE} ${id}`, { signal }, task),
}

/**
 * Loads an entry, or makes it. Two pages get the same key.
 * @throws SvcError `certificate_unavailable` where there is no storage, as in a sandboxed frame
 */
async function loadDomainEntry(id: string): Promise<DomainEntry> {
  const made: Entry = await createWebCryptoKey()
  const entry = await inStore(DATABASE, STORE, 'readwrite', (store) => {
    const found: IDBRequest<Entry | undefined> = store.get(id)
    found.onsuccess = () => {
      if (!found.result) store.put(made, id)
    }
    return found
  }).catch((cause) => {
    const why = 'this page has no storage for the keys of its domains: bring a certificate instead'
    throw new SvcError('certificate_unavailable', why, { cause })
  })
  const { privateKey, publicKey, text } = entry ?? made
  return {
    key: siteKeyOf({ privateKey, publicKey }),
    text,
    where: `the entry ${id} of this origin's database ${DATABASE}`,
    save: async (next) => {
      const changed: Entry = { privateKey, publicKey, text: next }
      await inStore(DATABASE, STORE, 'readwrite', (store) => store.put(changed, id))
    },
  }
}
