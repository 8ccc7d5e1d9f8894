// Changes of header fields: checks at start, then application to requests and responses.

import { spellingOf } from '../semantics/field-spelling.ts'
import type { Field } from '../semantics/fields.ts'
import { membersOf, printed, textsOf, type Value, wrong } from './checks.ts'
import type { PathPattern } from './path.ts'

/** A HeaderEdit is a parsed header rule. */
export interface HeaderEdit {
  readonly path: PathPattern
  /** The names to drop, of `remove` and `set`: in lower case for responses, and as {@link spellingOf} for requests. */
  readonly gone: ReadonlySet<string>
  /** The fields of `set` and `add`. */
  readonly fields: readonly Field[]
  /** The names of all changed fields, as {@link spellingOf}. */
  readonly changed: ReadonlySet<string>
}

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
/** RFC 9110 §5.5: without control characters, and in the bytes that a field can have. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Fields of the connection and of the framing, which the SDK sets itself (RFC 9110 §7.6.1, RFC 9112 §6, RFC 6455 §11.3). */
const FRAMING =
  /^(?:connection|content-length|http2-settings|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|sec-websocket-.*)$/i
/** Fields of requests that say where, or how, the content is asked for. */
const OF_REQUESTS = /^(?:expect|host)$/i

/**
 * Parses a header rule.
 * @throws SvcError `invalid_option`
 */
export function parseHeaderEdit(
  value: Value,
  pathOf: (value: Value | undefined) => PathPattern,
  isRequest: boolean,
): HeaderEdit {
  const { path, set, add, remove } = membersOf(value, ['path', 'set', 'add', 'remove'])
  if (!set && !add && !remove) wrong(value, 'has to have set, add or remove')
  const placed = fieldsOf(set, isRequest)
  const added = fieldsOf(add, isRequest)
  const removed = remove ? textsOf(remove, TOKEN, 'a list of names of fields') : []
  for (const [at, name] of removed.entries()) checkName({ place: `${remove!.place}[${at}]` }, name, isRequest)
  const spelled = isRequest ? spellingOf : (name: string): string => name.toLowerCase()
  const gone = new Set([...removed, ...placed.map(([name]) => name)].map(spelled))
  const changed = new Set([...removed, ...[...placed, ...added].map(([name]) => name)].map(spellingOf))
  return { path: pathOf(path), gone, fields: [...placed, ...added], changed }
}

/** Returns the fields of an object. @throws SvcError `invalid_option` */
export function fieldsOf(value: Value | undefined, isRequest: boolean): Field[] {
  if (!value) return []
  const { given, place } = value
  const wanted = 'has to be an object of names and values, such as { "X-Name": "value" }'
  if (typeof given !== 'object' || given === null || Array.isArray(given)) wrong(value, wanted)
  return Object.entries(given).map(([name, text]: [string, unknown]) => {
    const at = { place: `${place}.${name}` }
    checkName(at, name, isRequest)
    if (typeof text !== 'string' || !FIELD_VALUE.test(text))
      wrong(at, `has to be a text of one line, in Latin letters, not ${printed(text)}`)
    return [name.toLowerCase(), text.trim(), name]
  })
}

function checkName(at: Pick<Value, 'place'>, name: string, isRequest: boolean): void {
  if (!TOKEN.test(name)) wrong(at, `is not the name of a field: ${JSON.stringify(name)}`)
  if (isRequest && name.toLowerCase() === 'host')
    wrong(at, 'cannot be changed: the option host says which one a server gets')
  if (FRAMING.test(name) || (isRequest && OF_REQUESTS.test(name)))
    wrong(at, `cannot be changed: ${name} belongs to the connection or the framing of content`)
}

/**
 * Returns the fields of a request after the edits. The visitor cannot bring a field under another spelling that servers take for
 * the same, nor have one of these dropped as a field of the connection.
 */
export function editedRequest(fields: readonly Field[], edits: readonly HeaderEdit[]): Field[] {
  let edited = [...fields]
  for (const { gone, fields: placed, changed } of edits) {
    if (gone.size > 0) edited = edited.filter(([name]) => !gone.has(spellingOf(name)))
    edited = edited.flatMap((field) => (field[0] === 'connection' ? withoutNames(field, changed) : [field]))
    edited.push(...placed)
  }
  return edited
}

/** Returns the fields of a response after the edits. */
export function editedResponse(fields: readonly Field[], edits: readonly HeaderEdit[]): Field[] {
  let edited = [...fields]
  for (const { gone, fields: placed } of edits) {
    if (gone.size > 0) edited = edited.filter(([name]) => !gone.has(name.toLowerCase()))
    edited.push(...placed)
  }
  return edited
}

/** Removes names from Connection, whose fields a proxy drops (RFC 9110 §7.6.1). */
function withoutNames([name, value, written]: Field, changed: ReadonlySet<string>): Field[] {
  const options = value.split(',').map((option) => option.trim())
  const kept = options.filter((option) => !changed.has(spellingOf(option)))
  if (kept.length === options.length) return [[name, value, written]]
  return kept.length === 0 ? [] : [[name, kept.join(', '), written]]
}
