// Request fields that a site itself sets for its handler, and that no visitor can set.

import { spellingOf } from '../../semantics/field-spelling.ts'

/**
 * Sets the fields. What the visitor sent under their names, in any spelling, is dropped, also the names in `Connection`, whose fields a
 * proxy drops (RFC 9110 §7.6.1).
 * @param fields undefined for a field that the handler does not get
 */
export function setOwnFields(headers: Headers, fields: Readonly<Record<string, string | undefined>>): void {
  const own = new Set(Object.keys(fields).map(spellingOf))
  for (const name of [...headers.keys()]) if (own.has(spellingOf(name))) headers.delete(name)
  const connection = headers.get('connection')
  if (connection !== null) {
    const options = connection.split(',').map((option) => option.trim())
    const kept = options.filter((option) => !own.has(spellingOf(option))).join(', ')
    if (kept === '') headers.delete('connection')
    else headers.set('connection', kept)
  }
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) headers.set(name, value)
}
