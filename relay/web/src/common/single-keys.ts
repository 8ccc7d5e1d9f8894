// Whether single letters and signs are keys of a page. A person can turn them off (WCAG 2.1.4), which is remembered.

import { Store } from './store.ts'

/** SingleKeysMemory remembers it: the browser's, unless the page has another. */
export interface SingleKeysMemory {
  load(): Promise<boolean>
  save(areOn: boolean): Promise<unknown>
}

const STORED_AS = 'svc-inspector-keys'
const OFF = 'off'

const browserMemory: SingleKeysMemory = {
  load: async () => localStorage.getItem(STORED_AS) !== OFF,
  save: async (areOn) => {
    if (areOn) localStorage.removeItem(STORED_AS)
    else localStorage.setItem(STORED_AS, OFF)
  },
}

let memory = browserMemory

/** False until it is loaded. */
export const singleKeys: Store<boolean> = new Store(false)

/** For a page that the browser would not know again, because its origin changes. */
export function rememberSingleKeysIn(other: SingleKeysMemory): void {
  memory = other
}

export async function loadSingleKeys(): Promise<void> {
  singleKeys.set(await memory.load().catch(() => true))
}

/** Where it cannot be stored, it is forgotten with the page. */
export function setSingleKeys(areOn: boolean): void {
  singleKeys.set(areOn)
  memory.save(areOn).catch(() => {})
}
