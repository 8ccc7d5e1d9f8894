// Keeps a browser's identities in IndexedDB, by name within a web origin, so that canonical hostnames are stable.

import { createPrivateKey, SvcError } from '@svc/sdk-core'
import { isBytes } from '@svc/sdk-core/platform-objects'

const DATABASE = 'svc'
/** The first version: there is no older one, whose connections could block a page that opens this one. */
const VERSION = 1
const STORE = 'identity'
/** The name of the identity when the caller gives none. */
const DEFAULT_NAME = 'default'

/**
 * Resolves with a private key of this web origin, which is created on first use.
 * @param name the key's name within the origin
 * @throws SvcError `identity_unavailable` where there is no storage, as in a sandboxed frame
 */
export async function loadStoredIdentity(name: string = DEFAULT_NAME): Promise<Uint8Array> {
  try {
    const database = await open()
    try {
      return await loadOrCreate(database, name)
    } finally {
      database.close()
    }
  } catch (cause) {
    throw new SvcError(
      'identity_unavailable',
      'no identity from IndexedDB; pass one as the option `identity`',
      {
        cause,
      },
    )
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Reads and writes in one transaction. Transactions run one after another, so two tabs get the same key. */
function loadOrCreate(database: IDBDatabase, name: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
    const store = transaction.objectStore(STORE)
    const request: IDBRequest<unknown> = store.get(name)
    let key: Uint8Array
    request.onsuccess = () => {
      if (isBytes(request.result)) {
        key = request.result
        return
      }
      key = createPrivateKey()
      store.put(key, name)
    }
    transaction.oncomplete = () => resolve(key)
    transaction.onabort = () => reject(transaction.error)
  })
}
