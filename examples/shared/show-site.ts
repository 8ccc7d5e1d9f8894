// Publishes when the page opens, and shows the site in its card for as long as it lives.
import type { Site } from '@svc/sdk-browser'
import { showError } from './show-error.ts'
import { createSiteCard, showSiteState } from './site-card.ts'

/** @param publish called at once, and again when the user publishes again, maybe under another name */
export function showSite(name: string, publish: (name: string) => Promise<Site>): void {
  let site: Site | undefined
  createSiteCard(name, { publish: start, stop: () => site?.close() })
  start(name)

  async function start(name: string): Promise<void> {
    showSiteState('connecting', '')
    try {
      site = await publish(name)
    } catch (error) {
      showSiteState('closed', '')
      showError(error)
      return
    }
    follow(site)
  }
}

function follow(site: Site): void {
  const show = (): void => showSiteState(site.state, site.url)
  site.addEventListener('statechange', show)
  site.addEventListener('error', ({ error }) => showError(error))
  show()
}
