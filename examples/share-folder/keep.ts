// The switch that makes the relay keep a copy of the files, and what the page says of that copy.
import type { CacheOptions, Site } from '@svc/sdk-browser'
import { copyOnClick } from '../shared/copy.ts'
import { element } from '../shared/dom.ts'
import { showError } from '../shared/show-error.ts'
import { withIndex } from './index-file.ts'

/** Seconds for which the relay is asked to keep the files after the page is closed. Its operator may allow less. */
const KEEP_S: number = 24 * 60 * 60

const ADDRESS = `
<a id="kept-url" target="_blank" rel="noopener"></a>
<button id="kept-copy" type="button" class="plain">Copy</button>
`

const PROMISES = {
  off: element('promise').textContent,
  on: 'Visitors download from this tab while it is open. The relay also stores a copy of the files, which it can read.',
}

export interface Keeper {
  /** The options with which the site is published now. */
  readonly cache: CacheOptions | undefined
  /** Shows what the relay has of the site's files. */
  follow(site: Site): Site
  /** Tells the site that there are other files. */
  changed(): void
  /** Takes the copy down: the site is about to be stopped by hand. */
  takeDown(): Promise<void>
}

/**
 * @param shared files by path
 * @param restart publishes the site again, for the relay asks for the copy when a site is published
 */
export function watchSwitch(shared: ReadonlyMap<string, File>, restart: () => Promise<void>): Keeper {
  const keep = element<HTMLInputElement>('keep')
  let site: Site | undefined
  keep.addEventListener('change', async () => {
    keep.disabled = true
    element('promise').textContent = keep.checked ? PROMISES.on : PROMISES.off
    if (!keep.checked) await takeDown()
    await restart()
    keep.disabled = false
    show(keep.checked, site)
  })
  element('kept-address').innerHTML = ADDRESS
  copyOnClick(element('kept-copy'), () => element<HTMLAnchorElement>('kept-url').textContent)
  return {
    get cache() {
      return keep.checked
        ? { files: () => withIndex(shared, site?.canonicalUrl ?? location.origin), ttl: KEEP_S }
        : undefined
    },
    follow(published) {
      site = published
      if (site.cacheLimits) element('keeping').hidden = false
      site.addEventListener('cachechange', () => show(keep.checked, published))
      show(keep.checked, site)
      return published
    },
    changed: () => site?.cache?.refresh(),
    takeDown,
  }

  async function takeDown(): Promise<void> {
    // An upload that is under way ends, too. A relay that is away deletes the copy when the site is published without it.
    if (site?.state === 'online') await site.cache?.remove().catch(showError)
    show(keep.checked, site)
  }
}

function show(isWanted: boolean, site: Site | undefined): void {
  const { present = false, expires_at: end } = site?.cache ?? {}
  const kept = element('kept')
  if (present && end !== undefined)
    kept.textContent = `The relay has the files until ${timeOf(end)}, or longer while this page is open.`
  else kept.textContent = isWanted ? 'The relay does not have the files yet.' : ''
  const link = element<HTMLAnchorElement>('kept-url')
  link.textContent = site?.canonicalUrl ?? ''
  link.href = link.textContent
  element('kept-address').hidden = !present
  element('kept-words').hidden = !present
}

function timeOf(time: string): string {
  return new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })
}
