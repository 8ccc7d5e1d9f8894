// Sites in a page that is hidden for long. Headless Chromium hides none, so its throttling is imitated, by its rule.
import { publish } from '@svc/sdk-browser'

declare global {
  var publishHidden: (relay: string, name: string) => Promise<void>
  /** The sites in the order of their publishing, with the time at which each left the state `online`. */
  var hiddenSites: { noticedAt: number | null }[]
}

/**
 * Runs before the page's own code, and makes its timers those of a page that was hidden for five minutes: they fire on
 * whole seconds, and those that timers have set, five deep, on whole minutes. Workers' timers are left alone. Stricter
 * than Chromium in two things: an interval runs once a minute from the start, and what happens right after a timer, such
 * as a message, may still count as set by it.
 */
export function throttleTimers(): void {
  const SECOND_MS = 1_000
  const MINUTE_MS = 60_000
  const CHAIN_MAX = 5
  const { setTimeout, setInterval } = globalThis
  let depth = 0
  // After the timer's microtasks, which belong to it.
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    depth = 0
  }
  const aligned = (ms: number, own: number): number => {
    const grid = own >= CHAIN_MAX ? MINUTE_MS : SECOND_MS
    return Math.ceil((Date.now() + ms) / grid) * grid - Date.now()
  }
  globalThis.setTimeout = ((run: () => void, ms = 0) => {
    const own = depth + 1
    const fire = () => {
      depth = own
      port2.postMessage(undefined)
      run()
    }
    return setTimeout(fire, aligned(ms, own))
  }) as typeof setTimeout
  globalThis.setInterval = ((run: () => void, ms = 0) =>
    setInterval(run, Math.max(ms, MINUTE_MS))) as typeof setInterval
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
  Object.defineProperty(document, 'hidden', { get: () => true })
}

globalThis.hiddenSites = []
globalThis.publishHidden = async (relay, name) => {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  const site = await publish({ relay, name, identity, fetch: () => new Response() })
  const entry: { noticedAt: number | null } = { noticedAt: null }
  globalThis.hiddenSites.push(entry)
  site.addEventListener('statechange', () => {
    if (site.state !== 'online') entry.noticedAt ??= Date.now()
  })
}
