// Keeps the screen on while the site of this tab is online and the page is in view: a phone that locks ends the site.
import { Store } from '../common/store.ts'
import { publication } from './publication.ts'

export interface Screen {
  isWanted: boolean
  /** Undefined until the browser has answered. */
  isOn: boolean | undefined
}

const KEY = 'svc-landing-screen'
const OFF = 'off'

export const screen: Store<Screen> = new Store<Screen>({
  isWanted: localStorage.getItem(KEY) !== OFF,
  isOn: undefined,
})

let lock: WakeLockSentinel | undefined
let isAsking = false

export function keepScreenOn(isWanted: boolean): void {
  if (isWanted) localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, OFF)
  screen.set({ ...screen.value, isWanted })
  void follow()
}

function isNeeded(): boolean {
  return screen.value.isWanted && publication.value?.state === 'online' && !document.hidden
}

async function follow(): Promise<void> {
  if (isAsking) return
  if (isNeeded() && lock === undefined) await ask()
  if (!isNeeded()) await release()
}

async function ask(): Promise<void> {
  isAsking = true
  try {
    const granted = await navigator.wakeLock.request('screen')
    lock = granted
    granted.addEventListener('release', () => {
      if (lock === granted) lock = undefined
    })
  } catch {
    // The battery is low, or a policy forbids it: the page says so, and asks again when it is shown again.
  }
  isAsking = false
  screen.set({ ...screen.value, isOn: lock !== undefined })
}

async function release(): Promise<void> {
  const held = lock
  lock = undefined
  await held?.release()
  if (screen.value.isOn !== undefined) screen.set({ ...screen.value, isOn: undefined })
}

// It follows the site from its first import. The browser itself releases the lock when the page is hidden.
publication.subscribe(() => void follow())
document.addEventListener('visibilitychange', () => void follow())
void follow()
