// Asks before the page is left, while a visitor would lose something.
import type { Site } from '@svc/sdk-browser'

/** @param closed aborted when the site is closed */
export function askBeforeLeaving(site: Site, closed: AbortSignal): void {
  const ask = (event: BeforeUnloadEvent): void => {
    const isVisited = site.stats().connections.open > 0
    const isAwaited = (site.knocks?.length ?? 0) > 0
    if (isVisited || isAwaited) event.preventDefault()
  }
  addEventListener('beforeunload', ask, { signal: closed })
}
