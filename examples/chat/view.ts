// The room as its host and its visitors see it: the same elements (room.html) on both pages.
import { element, make } from '../shared/dom.ts'
import { HISTORY_MAX, TEXT_MAX_CHARS } from './limits.ts'
import type { Message, RoomEvent } from './room.ts'

/** Pixels: a visitor who scrolled up by less still wants to see new messages. */
const NEAR_END_PX = 40

let ownName = ''

/** @param say is given what was typed, and returns false when that has to wait */
export function createView(say: (text: string) => boolean): void {
  const field = element<HTMLInputElement>('text')
  field.maxLength = TEXT_MAX_CHARS
  element('log').tabIndex = 0 // it scrolls: keyboards have to reach it
  element('say').addEventListener('submit', (event) => {
    event.preventDefault()
    element('notice').textContent = ''
    if (say(field.value)) field.value = ''
  })
}

export function show(event: RoomEvent): void {
  switch (event.type) {
    case 'welcome':
      ownName = event.name
      element('messages').replaceChildren()
      for (const message of event.history) addMessage(message)
      break
    case 'people':
      element('count').textContent = String(event.names.length)
      element('people').replaceChildren(...event.names.map(person))
      break
    case 'message':
      addMessage(event.message)
      break
    case 'notice':
      element('notice').textContent = event.text
  }
}

function person(name: string): HTMLElement {
  const item = make('li')
  item.append(make('bdi', name), name === ownName ? ' (you)' : '')
  return item
}

function addMessage({ from, isHost, text, at }: Message): void {
  const log = element('log')
  const list = element('messages')
  const wasAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX
  const item = make('li', '', from === ownName ? 'own' : '')
  const head = make('p', '', 'head')
  const when = new Date(at)
  const time = make('time', when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }))
  time.dateTime = when.toISOString()
  head.append(make('bdi', from), isHost ? make('span', 'host', 'badge') : '', time)
  const body = make('p', text)
  body.dir = 'auto'
  item.append(head, body)
  list.append(item)
  while (list.children.length > HISTORY_MAX) list.firstElementChild?.remove()
  if (wasAtEnd) log.scrollTop = log.scrollHeight
  element('quiet').hidden = true
}
