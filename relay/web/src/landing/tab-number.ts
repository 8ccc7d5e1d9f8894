// Which of several tabs with the same page this one is: the same after a reload, and free for another when it is closed.

/** A tab that is reloaded gets its number back as soon as the page before has gone, in milliseconds. */
const RELOAD_MS = 2_000

/** Those that this document holds. */
const numbers = new Map<string, Promise<number>>()

/** @param page names what the tabs have in common */
export function tabNumber(page: string): Promise<number> {
  const number = numbers.get(page) ?? claimNumber(page)
  numbers.set(page, number)
  return number
}

async function claimNumber(page: string): Promise<number> {
  const key = `svc-${page}-tab`
  const kept = sessionStorage.getItem(key)
  // a duplicated tab has the number of the first, which holds it
  if (kept !== null && (await requestLock(page, Number(kept), { signal: AbortSignal.timeout(RELOAD_MS) })))
    return Number(kept)
  for (let number = 1; ; number += 1)
    if (await requestLock(page, number, { ifAvailable: true })) {
      sessionStorage.setItem(key, String(number))
      return number
    }
}

/** Holds the number for as long as the page is there. */
function requestLock(page: string, number: number, options: LockOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const lock = navigator.locks.request(`svc-${page}-${number}`, options, (granted) => {
      resolve(granted !== null)
      return granted === null ? undefined : new Promise(() => {})
    })
    lock.catch(() => resolve(false))
  })
}
