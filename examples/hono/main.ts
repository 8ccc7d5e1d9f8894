// Guestbook: publishes a Hono app as it is, and lists its entries with a button to take each out.
import { publish } from '@svc/sdk-browser'
import { element, make } from '../shared/dom.ts'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import { guestbookApp } from './app.ts'
import { type Entry, Guestbook } from './book.ts'

const book = new Guestbook()
const app = guestbookApp(book)

showSite(friendlyNames('hono'), (site) => publish({ relay: location.origin, fetch: app.fetch, ...site }))

book.follow(() => {
  element('entries').replaceChildren(...book.entries.map(row))
  element('waiting').hidden = book.entries.length > 0
})

function row({ id, name, text }: Entry): HTMLElement {
  const item = make('li')
  const words = make('p', text)
  const button = make('button', 'Remove', 'plain')
  button.setAttribute('aria-label', `Remove the entry of ${name}`)
  button.addEventListener('click', () => book.remove(id))
  item.append(make('bdi', name), words, button)
  return item
}
