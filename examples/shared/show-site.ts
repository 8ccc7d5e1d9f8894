// Publishes when the page opens, and shows the site in its card for as long as it lives.
import { type Site, SvcError } from '@svc/sdk-browser'
import type { SiteNames } from './name.ts'
import { showError } from './show-error.ts'
import { createSiteCard, showSiteState } from './site-card.ts'

/** Name and identity distinguish the site from others of this web origin; `onSite` is called with it before it connects. */
interface SiteOptions {
  name: string
  identity: string
  onSite(site: Site): void
}

interface ShownSite {
  /** Publishes again under the same name, unless the site is closed. */
  restart(): Promise<void>
}

/**
 * @param publish called at once, and again when the user publishes again, maybe under another name
 * @param stopping called before the site is stopped by hand
 */
export async function showSite(
  names: Promise<SiteNames>,
  publish: (options: SiteOptions) => Promise<Site>,
  stopping: () => Promise<void> = async () => {},
): Promise<ShownSite> {
  const { name, identity, keep } = await names
  let site: Site | undefined
  let current = name
  createSiteCard(name, { publish: start, stop: () => stopping().finally(() => site?.close()) })
  start(name)
  return {
    async restart() {
      if (site === undefined || site.state === 'closed') return
      await site.close()
      await start(current)
    },
  }

  async function start(name: string): Promise<void> {
    current = name
    keep(name)
    showSiteState('connecting', '')
    const onSite = (begun: Site): void => {
      site = begun
      follow(begun)
    }
    try {
      await publish({ name, identity, onSite })
    } catch (error) {
      showSiteState('closed', '')
      // stopped by hand before it was online
      if (!(error instanceof SvcError && error.code === 'aborted')) showError(error)
    }
  }
}

function follow(site: Site): void {
  const show = (): void => showSiteState(site.state, site.url, site.waiting)
  site.addEventListener('statechange', show)
  site.addEventListener('error', ({ error }) => {
    // the site's card says what it waits for
    if (site.state !== 'waiting') showError(error)
  })
  show()
}
