// Whether single letters and signs are keys of the inspector. A person can turn them off (WCAG 2.1.4); the browser remembers it.

import { Store } from '../common/store.ts'

const STORED_AS = 'svc-inspector-keys'
const OFF = 'off'

export const singleKeys: Store<boolean> = new Store(stored() !== OFF)

export function setSingleKeys(areOn: boolean): void {
  singleKeys.set(areOn)
  try {
    if (areOn) localStorage.removeItem(STORED_AS)
    else localStorage.setItem(STORED_AS, OFF)
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED_AS)
  } catch {
    return null
  }
}
