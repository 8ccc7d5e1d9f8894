// Suspends and resumes a site with its page (Page Lifecycle), and makes it reconnect when the network is back.

import type { SuspendableSite } from '@svc/sdk-core'

/**
 * Passes a page's events on to a site. Workers have only some of these events; the others never fire.
 * @param signal aborting it stops this
 */
export function followPage(site: SuspendableSite, signal: AbortSignal): void {
  const scope: Partial<Pick<EventTarget, 'addEventListener'>> = globalThis
  const on = (type: string, listener: (event: Event) => void): void =>
    // An event of the document does not always bubble to the window, but always reaches it in the capture phase.
    // Ignores events that a script dispatched.
    scope.addEventListener?.(type, (event) => event.isTrusted && listener(event), { signal, capture: true })
  on('online', () => site.wake())
  // Hiding the page also wakes the site, which is harmless.
  on('visibilitychange', () => site.wake())
  // A frozen page resumes (Page Lifecycle).
  on('resume', () => site.wake())
  // An open WebSocket or a pending lease would keep the page out of the back/forward cache.
  on('pagehide', () => site.suspend())
  on('pageshow', (event) => {
    if ('persisted' in event && event.persisted === true) site.resume()
  })
}
