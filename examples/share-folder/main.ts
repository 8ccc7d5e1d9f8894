// Share a folder: publishes at once, and serves whatever was dropped or chosen.
import { type FetchInfo, publish } from '@svc/sdk-browser'
import { files } from '@svc/sdk-browser/handlers'
import { element } from '../shared/dom.ts'
import { secretNames } from '../shared/name.ts'
import { showError } from '../shared/show-error.ts'
import { showSite } from '../shared/show-site.ts'
import { follow } from './downloads.ts'
import { watchInputs } from './inputs.ts'

/** Files by path. The handler reads it at each request. */
const shared = new Map<string, File>()
const serve = files(shared, { listing: true })

// A visitor with the address has the files, so the site's name cannot be guessed, and the relay does not list it.
showSite(secretNames('share-folder', 'share'), (site) =>
  publish({ relay: location.origin, fetch: handle, metadata: { hide: true }, ...site }),
)

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
  },
  clear() {
    shared.clear()
    showCount()
  },
})

function showCount(): void {
  const { size } = shared
  element('count').textContent = size === 0 ? 'none yet' : `${size} shared`
  element('clear').hidden = size === 0
}
