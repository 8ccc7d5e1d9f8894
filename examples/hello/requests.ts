// The table of recent requests.
import { element } from '../shared/dom.ts'

/** Rows that are kept. */
const REQUESTS_MAX = 10

export function listRequest({ method, url }: Request): void {
  const table = element<HTMLTableElement>('requests')
  const { pathname, search } = new URL(url)
  const body = table.tBodies[0]!
  const row = body.insertRow(0)
  for (const text of [new Date().toLocaleTimeString(), method, pathname + search]) {
    const cell = row.insertCell()
    cell.textContent = text
    cell.title = text
  }
  while (body.rows.length > REQUESTS_MAX) body.deleteRow(-1)
  table.hidden = false
  element('waiting').hidden = true
}
