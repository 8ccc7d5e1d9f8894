// The hello page: publishes itself when it opens, shows where, and lists who came.
import { publish, type Site } from '@svc/sdk-browser'
import { answer } from './answer.ts'
import { loadName, saveName } from './name.ts'

/** Rows in the list of recent requests. */
const REQUESTS_MAX = 10

const form = element<HTMLFormElement>('form')
const nameField = element<HTMLInputElement>('name')
const publishButton = element<HTMLButtonElement>('publish')
const stopButton = element<HTMLButtonElement>('stop')
const copyButton = element<HTMLButtonElement>('copy')

let site: Site | undefined
let visits = 0

nameField.value = loadName()
form.addEventListener('submit', (event) => {
  event.preventDefault()
  start()
})
stopButton.addEventListener('click', () => site?.close())
copyButton.addEventListener('click', copyAddress)
start()

async function start(): Promise<void> {
  const name = nameField.value
  saveName(name)
  showError('')
  showState('connecting')
  try {
    site = await publish({ relay: location.origin, name, fetch: handle })
  } catch (error) {
    showError(error instanceof Error ? error.message : String(error))
    showState('closed')
    return
  }
  const published = site
  published.addEventListener('statechange', () => showState(published.state))
  published.addEventListener('error', (event) => showError(event.error.message))
  const link = element<HTMLAnchorElement>('url')
  link.href = published.url
  link.textContent = published.url
  showState(published.state)
}

function handle(request: Request): Response {
  const { response, isVisit } = answer(request, new URL(request.url).host, visits)
  if (isVisit) visits += 1
  element('visits').textContent = String(visits)
  listRequest(request)
  return response
}

function showState(state: Site['state']): void {
  const output = element('state')
  output.textContent = state
  output.dataset.state = state
  const isClosed = state === 'closed'
  nameField.disabled = !isClosed
  publishButton.hidden = !isClosed
  stopButton.hidden = isClosed
  stopButton.disabled = state === 'connecting'
  element('address').hidden = state === 'closed' || state === 'connecting'
  if (state === 'online') showError('')
}

function showError(message: string): void {
  element('error').textContent = message
}

function listRequest({ method, url }: Request): void {
  const table = element('requests')
  const row = document.createElement('tr')
  const { pathname, search } = new URL(url)
  for (const text of [new Date().toLocaleTimeString(), method, pathname + search]) {
    const cell = row.insertCell()
    cell.textContent = text
    cell.title = text
  }
  const body = table.querySelector('tbody')!
  body.prepend(row)
  while (body.rows.length > REQUESTS_MAX) body.deleteRow(-1)
  table.hidden = false
  element('waiting').hidden = true
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
