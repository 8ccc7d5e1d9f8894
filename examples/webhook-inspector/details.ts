// One request in full.
import type { Entry } from '@svc/sdk-browser/handlers'
import { element, make } from '../shared/dom.ts'

export function showDetails(entry: Entry): void {
  element('details').hidden = false
  element('details-heading').textContent = `${entry.method} ${pathOf(entry)}`
  element('summary').textContent = summary(entry)
  element('fields').replaceChildren(
    ...entry.request.headers.flatMap(([name, value]) => [make('dt', name), make('dd', value)]),
  )
  element('body').textContent = bodyText(entry.request)
  // The beginning of a body is not the request.
  const isWhole = entry.request.bodyBytes === entry.request.body.length
  for (const id of ['replay', 'curl']) element<HTMLButtonElement>(id).disabled = !isWhole
}

export function pathOf({ url }: Entry): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function summary({ id, at, request, response, times, replayOf }: Entry): string {
  const replay = replayOf === undefined ? '' : `, a replay of number ${numberOf(replayOf)}`
  const answer = response ? `answered ${response.status} in ${times.head?.toFixed(1)} ms` : 'not answered yet'
  const time = new Date(at).toLocaleTimeString()
  return `Number ${numberOf(id)}${replay}, at ${time}, ${request.bodyBytes} bytes, ${answer}.`
}

/** The ids of a run differ in their number. */
function numberOf(id: string): string {
  return id.slice(id.indexOf('-') + 1)
}

function bodyText({ body, bodyBytes }: Entry['request']): string {
  if (bodyBytes === 0) return '(none)'
  const text = new TextDecoder().decode(body)
  return bodyBytes > body.length ? `${text}\n… ${bodyBytes - body.length} more bytes` : indented(text)
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
