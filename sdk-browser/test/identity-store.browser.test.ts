// The identities that a web origin keeps: beside databases of its pages, and those that an earlier SDK left.

import { afterEach, expect, test } from 'vitest'
import { loadStoredIdentity } from '../src/identity-store.ts'

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Makes a database as another script would, with one value in it. */
async function make(name: string, version: number, store: string, value: unknown): Promise<void> {
  const request = indexedDB.open(name, version)
  request.onupgradeneeded = () => request.result.createObjectStore(store)
  const database = await done(request)
  await done(database.transaction(store, 'readwrite').objectStore(store).put(value, 'default'))
  database.close()
}

afterEach(async () => {
  for (const name of ['svc', '@svc/sdk-browser']) await done(indexedDB.deleteDatabase(name))
})

test('a key is made once, also by two at a time, and each name has its own', async () => {
  const [one, two] = await Promise.all([loadStoredIdentity(), loadStoredIdentity()])
  expect(one).toHaveLength(32)
  expect(two).toEqual(one)
  expect(await loadStoredIdentity()).toEqual(one)
  expect(await loadStoredIdentity('other')).not.toEqual(one)
  expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain('svc')
})

test('a database of the page itself, of the name that the SDK had, is left alone', async () => {
  await make('svc', 7, 'files', 'theirs')
  expect(await loadStoredIdentity()).toHaveLength(32)
  const database = await done(indexedDB.open('svc'))
  expect([database.version, [...database.objectStoreNames]]).toEqual([7, ['files']])
  database.close()
})

test('the key of an earlier SDK is kept', async () => {
  const former = new Uint8Array(32).fill(7)
  await make('svc', 1, 'identity', former)
  expect(await loadStoredIdentity()).toEqual(former)
  await done(indexedDB.deleteDatabase('svc'))
  expect(await loadStoredIdentity()).toEqual(former)
})
