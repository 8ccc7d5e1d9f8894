// What the share sheet of a phone gave to this app, from the service worker that received it to the page that shows it: one at a
// time, in IndexedDB of this browser, until the page takes it.

export interface Shared {
  files: readonly File[]
  /** Title, text and link. */
  text: string
}

const DATABASE = 'svc-landing-shared'
const STORE = 'shared'
const KEY = 'latest'

/** Replaces what nobody has taken. */
export async function putShared(shared: Shared): Promise<void> {
  await ask((store) => store.put(shared, KEY))
}

/** @returns undefined when there is nothing, or it was taken */
export async function takeShared(): Promise<Shared | undefined> {
  let shared: IDBRequest | undefined
  await ask((store) => {
    shared = store.get(KEY)
    return store.delete(KEY)
  })
  return shared?.result
}

async function ask(question: (store: IDBObjectStore) => IDBRequest): Promise<void> {
  const opening = indexedDB.open(DATABASE)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve
    opening.onerror = () => reject(opening.error)
  })
  const database = opening.result
  const transaction = database.transaction(STORE, 'readwrite')
  question(transaction.objectStore(STORE))
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve
    transaction.onabort = () => reject(transaction.error)
  }).finally(() => database.close())
}
