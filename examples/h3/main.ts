// Links: publishes an h3 app as it is, and edits what it serves.
import { publish } from '@svc/sdk-browser'
import { element, make } from '../shared/dom.ts'
import { friendlyNames } from '../shared/name.ts'
import { showError } from '../shared/show-error.ts'
import { showSite } from '../shared/show-site.ts'
import { linksApp } from './app.ts'
import { type Link, Links } from './links.ts'

const links = new Links()
const app = linksApp(links, show)

showSite(friendlyNames('h3'), (site) => publish({ relay: location.origin, fetch: app.fetch, ...site }))

const form = element<HTMLFormElement>('add')
form.addEventListener('submit', (event) => {
  event.preventDefault()
  try {
    links.add(element<HTMLInputElement>('title').value, element<HTMLInputElement>('link').value)
    showError('')
    form.reset()
    show()
  } catch (error) {
    showError(error)
  }
})

function show(): void {
  const all = links.all()
  element('links').replaceChildren(...all.map(row))
  element('waiting').hidden = all.length > 0
}

function row({ path, title, url, followed }: Link): HTMLElement {
  const item = make('li')
  const button = make('button', 'Remove', 'plain')
  button.setAttribute('aria-label', `Remove ${title}`)
  button.addEventListener('click', () => {
    links.remove(path)
    show()
  })
  const words = make('p', `/to/${path} → ${url}, followed ${followed}×`, 'quiet')
  item.append(make('bdi', title), words, button)
  return item
}
