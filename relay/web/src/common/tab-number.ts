// Numbers the tabs of the same page. A tab keeps its number across reloads and frees it when it closes.

/** The time for the page before a reload to free its number, in milliseconds: a busy browser is slow to unload a page. */
const RELOAD_MS = 30_000
/** The same when it may instead be another tab, which keeps its number. */
const COPY_MS = 2_000

/** Numbers that this document holds. */
const numbers = new Map<string, Promise<number>>()

/** @param page identifies the page that the tabs share */
export function tabNumber(page: string): Promise<number> {
  const number = numbers.get(page) ?? claimNumber(page)
  numbers.set(page, number)
  return number
}

async function claimNumber(page: string): Promise<number> {
  const key = `svc-${page}-tab`
  const kept = sessionStorage.getItem(key)
  // A duplicated tab has the stored number of the first tab, which holds the lock.
  const signal = AbortSignal.timeout(patienceMs())
  if (kept !== null && (await requestLock(lockOf(page, Number(kept)), { signal }))) return Number(kept)
  for (let number = 1; ; number += 1)
    if (await requestLock(lockOf(page, number), { ifAvailable: true })) {
      sessionStorage.setItem(key, String(number))
      return number
    }
}

/** @returns milliseconds for the page before a reload, or before a duplicate of its tab, to free what it holds */
export function patienceMs(): number {
  return isReload() ? RELOAD_MS : COPY_MS
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'reload'
}

/** @returns the name of the lock of a number */
export function lockOf(page: string, number: number): string {
  return `svc-${page}-${number}`
}

/**
 * Holds a lock among the tabs of this origin.
 * @param until resolves when the lock is free again; without it the page holds it until it closes
 * @returns whether it got the lock
 */
export function requestLock(
  name: string,
  options: LockOptions,
  until: Promise<void> = new Promise(() => {}),
): Promise<boolean> {
  return new Promise((resolve) => {
    const lock = navigator.locks.request(name, options, (granted) => {
      resolve(granted !== null)
      return granted === null ? undefined : until
    })
    lock.catch(() => resolve(false))
  })
}
