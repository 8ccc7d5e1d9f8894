// Share a folder: publishes at once, and serves whatever was dropped or chosen.
import { type FetchInfo, type PublishOptions, publish, type Site } from '@svc/sdk-browser'
import { files } from '@svc/sdk-browser/handlers'
import { element } from '../shared/dom.ts'
import { secretNames } from '../shared/name.ts'
import { showError } from '../shared/show-error.ts'
import { showSite } from '../shared/show-site.ts'
import { follow } from './downloads.ts'
import { watchInputs } from './inputs.ts'
import { watchSwitch } from './keep.ts'

/** Files by path. The handler reads it at each request. */
const shared = new Map<string, File>()
const serve = files(shared, { listing: true, archive: true })

// A visitor with the address has the files, so the site's name cannot be guessed, and the relay does not list it.
const shown = showSite(secretNames('share-folder', 'share'), start, () => keeper.takeDown())
const keeper = watchSwitch(shared, async () => (await shown).restart())

async function start(site: Pick<PublishOptions, 'name' | 'identity' | 'onSite'>): Promise<Site> {
  const { cache } = keeper
  return keeper.follow(
    await publish({ relay: location.origin, fetch: handle, certificate: 'shared', cache, ...site }),
  )
}

async function handle(request: Request, info: FetchInfo): Promise<Response> {
  const response = await serve(request, info)
  if (!response.ok || response.headers.get('content-type')?.startsWith('text/html')) return response
  element('waiting').hidden = true
  return follow(element('downloads'), request, response)
}

watchInputs({
  /** A file of the same path is replaced. */
  add(found) {
    for (const [path, file] of found) shared.set(path, file)
    showError('')
    showCount()
    keeper.changed()
  },
  clear() {
    shared.clear()
    showCount()
    keeper.changed()
  },
})

function showCount(): void {
  const { size } = shared
  element('count').textContent = size === 0 ? 'none yet' : `${size} shared`
  element('clear').hidden = size === 0
}
