// Stores identities in IndexedDB, by name within a web origin, so that canonical hostnames are stable.

import { createPrivateKey, SvcError } from '@svc/sdk-core'
import { isBytes } from '@svc/sdk-core/platform-objects'

/** A name that no other script of the origin is likely to use. */
const DATABASE = '@svc/sdk-browser'
/** The database of earlier versions. Its name is so short that pages use it for databases of their own. */
const FORMER_DATABASE = 'svc'
const STORE = 'identity'
/** The name of the identity when the caller gives none. */
const DEFAULT_NAME = 'default'

/**
 * Loads a private key of this web origin, and creates it on first use.
 * @param name the key's name within the origin
 * @throws SvcError `identity_unavailable` where there is no storage, such as in a sandboxed frame
 */
export async function loadStoredIdentity(name: string = DEFAULT_NAME): Promise<Uint8Array> {
  try {
    const kept = await keptIn(DATABASE, name)
    if (kept !== undefined) return kept
    const former = await keptIn(FORMER_DATABASE, name)
    return await getOrPut(DATABASE, name, isBytes(former) ? former : createPrivateKey())
  } catch (cause) {
    throw new SvcError(
      'identity_unavailable',
      'IndexedDB cannot keep an identity; pass one as the option `identity`',
      {
        cause,
      },
    )
  }
}

/** Resolves with the stored value, or undefined when there is none or the database cannot be read. */
function keptIn(database: string, key: string): Promise<Uint8Array | undefined> {
  return getOrPut(database, key).catch(() => undefined)
}

/**
 * Gets a value; when there is none, it first stores `made`. Without `made` it does not create a missing database.
 * Transactions run one after another, so two tabs get the same key.
 */
async function getOrPut(name: string, key: string, made?: Uint8Array): Promise<Uint8Array> {
  const opening = indexedDB.open(name)
  opening.onupgradeneeded = () =>
    made ? opening.result.createObjectStore(STORE) : opening.transaction!.abort()
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve
    opening.onerror = () => reject(opening.error)
  })
  const database = opening.result
  try {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
    const store = transaction.objectStore(STORE)
    const found: IDBRequest = store.get(key)
    found.onsuccess = () => found.result ?? (made && store.put(made, key))
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = () => reject(transaction.error)
    })
    return found.result ?? made
  } finally {
    database.close()
  }
}
