// One request in full.
import type { Entry } from '@svc/sdk-browser/handlers'
import { element, make } from '../shared/dom.ts'

export function showDetails(entry: Entry): void {
  element('details').hidden = false
  element('details-heading').textContent = `${entry.method} ${pathOf(entry)}`
  element('summary').textContent = summary(entry)
  element('fields').replaceChildren(
    ...entry.headers.flatMap(([name, value]) => [make('dt', name), make('dd', value)]),
  )
  element('body').textContent = bodyText(entry)
  // The beginning of a body is not the request.
  const isWhole = entry.bodyBytes === entry.body.length
  for (const id of ['replay', 'curl']) element<HTMLButtonElement>(id).disabled = !isWhole
}

export function pathOf({ url }: Entry): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function summary({ id, at, bodyBytes, status, ms, replayOf }: Entry): string {
  const replay = replayOf === undefined ? '' : `, a replay of number ${replayOf}`
  const answer = status === undefined ? 'not answered yet' : `answered ${status} in ${ms?.toFixed(1)} ms`
  return `Number ${id}${replay}, at ${new Date(at).toLocaleTimeString()}, ${bodyBytes} bytes, ${answer}.`
}

function bodyText({ body, bodyBytes }: Entry): string {
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
