// Page Lifecycle: a site is suspended and resumed with its page, and tries again when the network is back.

import type { SuspendableSite } from '@svc/sdk-core'

/** Passes a page's events on. Workers have some of them; an event that never fires is harmless. */
export function followPage(site: SuspendableSite, signal: AbortSignal): void {
  const scope: Partial<Pick<EventTarget, 'addEventListener'>> = globalThis
  const on = (type: string, listener: (event: Event) => void): void =>
    // what is fired on the document does not always bubble to the window, but always passes it on its way down
    scope.addEventListener?.(type, listener, { signal, capture: true })
  on('online', () => site.wake())
  // hiding wakes, too, which does no harm
  on('visibilitychange', () => site.wake())
  // a frozen page goes on (Page Lifecycle)
  on('resume', () => site.wake())
  // an open WebSocket or a pending lease would keep the page out of the back/forward cache
  on('pagehide', () => site.suspend())
  on('pageshow', (event) => {
    if ('persisted' in event && event.persisted === true) site.resume()
  })
}
