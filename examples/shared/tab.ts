// Numbers several tabs with the same page: a tab keeps its number over a reload, and frees it when it is closed.

/** A tab that is reloaded gets its number back as soon as the page before has gone, in milliseconds. A busy browser takes a while. */
const RELOAD_MS = 30_000
/** The same where it may as well be another tab, which keeps its number. */
const COPY_MS = 2_000

/** The numbers that this document holds. */
const held = new Map<string, Promise<number>>()

/** @param page names what the tabs have in common */
export function tabNumber(page: string): Promise<number> {
  const number = held.get(page) ?? take(page)
  held.set(page, number)
  return number
}

async function take(page: string): Promise<number> {
  const key = `svc-${page}-tab`
  const kept = sessionStorage.getItem(key)
  // a duplicated tab has the number of the first, which holds it
  const signal = AbortSignal.timeout(isReload() ? RELOAD_MS : COPY_MS)
  if (kept !== null && (await claim(page, Number(kept), { signal }))) return Number(kept)
  for (let number = 1; ; number += 1)
    if (await claim(page, number, { ifAvailable: true })) {
      sessionStorage.setItem(key, String(number))
      return number
    }
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'reload'
}

/** Holds the number for as long as the page is there. */
function claim(page: string, number: number, options: LockOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const lock = navigator.locks.request(`svc-${page}-${number}`, options, (granted) => {
      resolve(granted !== null)
      return granted === null ? undefined : new Promise(() => {})
    })
    lock.catch(() => resolve(false))
  })
}
