// The entry that is open, as the fragment of the page's address names it: a link to one request.

import { Store } from '../common/store.ts'

const PLACE = '#requests'
const ENTRY = /^#requests\/([\w-]{1,64})$/

export const chosen: Store<string | undefined> = new Store<string | undefined>(
  chosenIn(globalThis.location?.hash ?? ''),
)
globalThis.addEventListener?.('hashchange', () => chosen.set(chosenIn(location.hash)))

export function chosenIn(hash: string): string | undefined {
  return ENTRY.exec(hash)?.[1]
}

/** The browser's Back leads from an entry to the list, and not through all entries that were looked at. */
export function choose(id: string | undefined): void {
  const hash = id === undefined ? PLACE : `${PLACE}/${id}`
  const address = location.pathname + location.search + hash
  if (id !== undefined && chosen.value === undefined) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  chosen.set(id)
}

export function linkTo(id: string): string {
  return `${location.origin}${location.pathname}${PLACE}/${id}`
}
