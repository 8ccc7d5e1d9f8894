// Keeps the files of this tab's folder for a reload, in IndexedDB of this browser, until the site is stopped or the tab closed.
import { lockOf } from '../../common/tab-number.ts'
import { KEPT_FILES } from './kept-mark.ts'
import type { Shelf } from './shelf.ts'

/** Bytes of files that are kept for a reload: the browser copies them. */
const KEPT_MAX_BYTES: number = 256 * 1024 * 1024
const DATABASE = 'svc-landing'
const STORE = 'files'

/** Keeps them instead of those before; none where they are too large, or the browser has no room. */
export async function keepFiles(tab: number, { files, title }: Shelf): Promise<void> {
  let bytes = 0
  for (const { size } of files.values()) bytes += size
  try {
    if (bytes > KEPT_MAX_BYTES || files.size === 0) return await forgetFiles(tab)
    localStorage.setItem(KEPT_FILES, 'yes')
    await ask((store) => store.put({ title, files: [...files] }, tab))
  } catch {
    // The page says after a reload that they have to be chosen again.
    await forgetFiles(tab)
  }
}

/** @returns undefined when none are kept */
export async function keptFiles(tab: number): Promise<Shelf | undefined> {
  const kept = await ask<{ title: string; files: [string, File][] } | undefined>((store) =>
    store.get(tab),
  ).catch(() => undefined)
  return kept && { title: kept.title, files: new Map(kept.files) }
}

export async function forgetFiles(tab: number): Promise<void> {
  await ask((store) => store.delete(tab)).catch(() => {})
}

/** Forgets the files of tabs that were closed. */
export async function sweepFiles(): Promise<void> {
  const { held = [] } = await navigator.locks.query()
  const names = new Set(held.map(({ name }) => name))
  const tabs = (await ask<IDBValidKey[]>((store) => store.getAllKeys()).catch(() => [])).map(Number)
  const closed = tabs.filter((tab) => !names.has(lockOf('landing-folder', tab)))
  await Promise.all(closed.map(forgetFiles))
  if (closed.length === tabs.length) localStorage.removeItem(KEPT_FILES)
}

async function ask<T = unknown>(question: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  const opening = indexedDB.open(DATABASE)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  const database = await resultOf<IDBDatabase>(opening)
  try {
    return await resultOf<T>(question(database.transaction(STORE, 'readwrite').objectStore(STORE)))
  } finally {
    database.close()
  }
}

function resultOf<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
