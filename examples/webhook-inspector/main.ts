// Webhook inspector: publishes at once, answers as its form says, and shows what came.
import { publish } from '@svc/sdk-browser'
import { asCurl, type Entry, inspect } from '@svc/sdk-browser/handlers'
import { copyOnClick } from '../shared/copy.ts'
import { element } from '../shared/dom.ts'
import { secretNames } from '../shared/name.ts'
import { showError } from '../shared/show-error.ts'
import { showSite } from '../shared/show-site.ts'
import { showDetails } from './details.ts'
import { showList } from './list.ts'

const statusField = element<HTMLSelectElement>('status')
const inspector = inspect(() => new Response('Received\n', { status: Number(statusField.value) }))
let chosen: string | undefined

// A client with the address can send something: the address cannot be guessed, and the relay does not list it.
showSite(secretNames('webhook-inspector', 'hook'), (site) =>
  publish({ relay: location.origin, fetch: inspector.fetch, certificate: 'shared', ...site }),
)

inspector.addEventListener('change', show)
element('clear').addEventListener('click', () => inspector.clear())
element('replay').addEventListener('click', replay)
copyOnClick(element('curl'), () => {
  const entry = chosenEntry()
  return entry ? asCurl(entry) : ''
})

function show(): void {
  const { entries } = inspector
  showList(entries, chosen, (id) => {
    chosen = id
    show()
  })
  const entry = chosenEntry()
  if (entry) showDetails(entry)
  else element('details').hidden = true
}

function chosenEntry(): Entry | undefined {
  return inspector.entries.find(({ id }) => id === chosen)
}

async function replay(): Promise<void> {
  const entry = chosenEntry()
  if (!entry) return
  try {
    chosen = (await inspector.replay(entry.id)).id
    show()
  } catch (error) {
    showError(error)
  }
}
