// Share a folder: publishes at once, and serves whatever was dropped or chosen last.
import { type FetchInfo, publish, type Site } from '@svc/sdk-browser'
import { files } from '@svc/sdk-browser/handlers'
import { follow } from './downloads.ts'
import { droppedFiles } from './dropped.ts'

/** Path → file. The handler reads it at each request. */
const shared = new Map<string, File>()
const serve = files(shared, { listing: true })

const drop = element('drop')
const publishButton = element<HTMLButtonElement>('publish')
const copyButton = element<HTMLButtonElement>('copy')
const clearButton = element<HTMLButtonElement>('clear')
let site: Site | undefined

for (const id of ['files', 'folder']) {
  const input = element<HTMLInputElement>(id)
  input.addEventListener('change', () => {
    share(chosenFiles(input))
    input.value = ''
  })
}
drop.addEventListener('dragover', (event) => {
  event.preventDefault()
  drop.classList.add('over')
})
drop.addEventListener('dragleave', () => drop.classList.remove('over'))
drop.addEventListener('drop', async (event) => {
  event.preventDefault()
  drop.classList.remove('over')
  try {
    if (event.dataTransfer) share(await droppedFiles(event.dataTransfer))
  } catch (error) {
    showError(error)
  }
})
clearButton.addEventListener('click', () => {
  shared.clear()
  showCount()
})
copyButton.addEventListener('click', copyAddress)
publishButton.addEventListener('click', start)
start()

async function start(): Promise<void> {
  showError('')
  showState('connecting')
  try {
    // Who has the address has the files, so its name is one that nobody guesses.
    const name = `share-${crypto.randomUUID().slice(0, 13)}`
    site = await publish({ relay: location.origin, name, fetch: handle })
  } catch (error) {
    showError(error)
    showState('closed')
    return
  }
  const published = site
  published.addEventListener('statechange', () => showState(published.state))
  published.addEventListener('error', (event) => showError(event.error))
  const link = element<HTMLAnchorElement>('url')
  link.href = published.url
  link.textContent = published.url
  showState(published.state)
}

async function handle(request: Request, info: FetchInfo): Promise<Response> {
  const response = await serve(request, info)
  if (!response.ok || response.headers.get('content-type')?.startsWith('text/html')) return response
  element('waiting').hidden = true
  return follow(element('downloads'), request, response)
}

/** Adds to what is shared; a file of the same path is replaced. */
function share(found: Iterable<[path: string, file: File]>): void {
  for (const [path, file] of found) shared.set(path, file)
  showError('')
  showCount()
}

function chosenFiles(input: HTMLInputElement): [path: string, file: File][] {
  // The first segment of a relative path is the chosen folder itself.
  return [...(input.files ?? [])].map((file) => [
    file.webkitRelativePath.replace(/^[^/]*\//, '') || file.name,
    file,
  ])
}

function showCount(): void {
  const { size } = shared
  element('count').textContent = size === 0 ? 'none yet' : `${size} shared`
  clearButton.hidden = size === 0
}

function showState(state: Site['state']): void {
  const output = element('state')
  output.textContent = state
  output.dataset.state = state
  publishButton.hidden = state !== 'closed'
  element('address').hidden = state === 'closed' || state === 'connecting'
  if (state === 'online') showError('')
}

function showError(error: unknown): void {
  element('error').textContent = error instanceof Error ? error.message : String(error)
}

async function copyAddress(): Promise<void> {
  try {
    await navigator.clipboard.writeText(site?.url ?? '')
    copyButton.textContent = 'Copied'
    setTimeout(() => {
      copyButton.textContent = 'Copy'
    }, 2000)
  } catch {
    showError('The browser did not allow copying: select the address instead.')
  }
}

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}
