// The list of requests, of which one is chosen.
import type { Entry } from '@svc/sdk-browser/handlers'
import { element, make } from '../shared/dom.ts'
import { pathOf } from './details.ts'

export function showList(
  entries: readonly Entry[],
  chosen: string | undefined,
  choose: (id: string) => void,
): void {
  const hadFocus = document.activeElement?.closest('#requests') !== null
  element('requests').replaceChildren(...entries.map((entry) => row(entry, entry.id === chosen, choose)))
  if (hadFocus) document.querySelector<HTMLElement>('#requests [aria-pressed="true"]')?.focus()
  element('clear').hidden = entries.length === 0
  element('waiting').hidden = entries.length > 0
}

function row(entry: Entry, isChosen: boolean, choose: (id: string) => void): HTMLElement {
  const item = make('li')
  const button = make('button')
  button.type = 'button'
  button.setAttribute('aria-pressed', String(isChosen))
  for (const text of [entry.method, pathOf(entry), String(entry.response?.status ?? '…')])
    button.append(make('span', text), ' ')
  button.addEventListener('click', () => choose(entry.id))
  item.append(button)
  return item
}
