// Webhook inspector: publishes at once, answers as it is told, and shows what came.
import { publish, type Site } from '@svc/sdk-browser'
import { asCurl, type Entry, inspect } from '@svc/sdk-browser/handlers'
import { pathOf, showDetails } from './details.ts'

const publishButton = element<HTMLButtonElement>('publish')
const clearButton = element<HTMLButtonElement>('clear')
const statusField = element<HTMLSelectElement>('status')
const inspector = inspect(() => new Response('Received\n', { status: Number(statusField.value) }))
let site: Site | undefined
let chosen: number | undefined

inspector.addEventListener('change', show)
publishButton.addEventListener('click', start)
clearButton.addEventListener('click', () => inspector.clear())
element('copy').addEventListener('click', (event) => copy(event, site?.url ?? ''))
element('curl').addEventListener('click', (event) => {
  const entry = chosenEntry()
  if (entry) copy(event, asCurl(entry))
})
element('replay').addEventListener('click', replay)
start()

async function start(): Promise<void> {
  showError('')
  showState('connecting')
  try {
    const name = `hook-${crypto.randomUUID().slice(0, 13)}`
    site = await publish({ relay: location.origin, name, fetch: inspector.fetch })
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

async function replay(): Promise<void> {
  const entry = chosenEntry()
  if (!entry) return
  try {
    await inspector.replay(entry)
    chosen = inspector.entries.find(({ replayOf }) => replayOf === entry.id)?.id
    show()
  } catch (error) {
    showError(error)
  }
}

function chosenEntry(): Entry | undefined {
  return inspector.entries.find(({ id }) => id === chosen)
}

function show(): void {
  const { entries } = inspector
  const hadFocus = document.activeElement?.closest('#requests') !== null
  element('requests').replaceChildren(...entries.map(row))
  if (hadFocus) document.querySelector<HTMLElement>('#requests [aria-pressed="true"]')?.focus()
  clearButton.hidden = entries.length === 0
  element('waiting').hidden = entries.length > 0
  const entry = chosenEntry()
  if (entry) showDetails(entry)
  else element('details').hidden = true
}

function row(entry: Entry): HTMLElement {
  const item = document.createElement('li')
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-pressed', String(entry.id === chosen))
  for (const text of [entry.method, pathOf(entry), String(entry.status ?? '…')]) {
    const part = document.createElement('span')
    part.textContent = text
    button.append(part, ' ')
  }
  button.addEventListener('click', () => {
    chosen = entry.id
    show()
  })
  item.append(button)
  return item
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

async function copy({ currentTarget }: Event, text: string): Promise<void> {
  const button = currentTarget as HTMLButtonElement
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    button.disabled = true
    setTimeout(() => {
      button.textContent = label
      button.disabled = false
    }, 2000)
  } catch {
    showError('The browser did not allow copying.')
  }
}

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}
