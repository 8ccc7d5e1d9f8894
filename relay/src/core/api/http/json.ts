// Parses clients' JSON within bounds of depth and number of values, and refuses duplicate names.

import { RelayError } from '../../errors.ts'

/** Depth of nested arrays and objects in a request's body. The deepest body of the contract has 3. */
const JSON_DEPTH_MAX = 32
/** Values in a request's body, nested ones included. Bodies of the contract that have no list have 40 at most. */
export const JSON_VALUES_MAX = 512

/**
 * @param maxValues values of the text, nested ones included
 * @throws RelayError `invalid_json` for invalid JSON and duplicate names, `invalid_request` for JSON that is too deep or
 * has too many values
 */
export function parseJson(text: string, maxValues: number = JSON_VALUES_MAX): unknown {
  // Runs before the recursive parser.
  requireNarrow(text, maxValues)
  try {
    return JSON.parse(text)
  } catch {
    throw new RelayError('invalid_json', 'the body is not valid JSON')
  }
}

/**
 * Checks the bounds, and that names are unique: parsers treat duplicates differently (RFC 8259 §4). Invalid JSON may
 * pass here, or get another error.
 */
function requireNarrow(text: string, maxValues: number): void {
  /** The names of each open object, and undefined for each open array. */
  const open: (Set<string> | undefined)[] = []
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === ',' || char === '{' || char === '[') values += 1
    if (values > maxValues)
      throw new RelayError('invalid_request', `the body has more than ${maxValues} values`)
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : undefined)
      if (open.length > JSON_DEPTH_MAX)
        throw new RelayError('invalid_request', `the body is nested deeper than ${JSON_DEPTH_MAX}`)
    } else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      const end = endOfString(text, at)
      if (isName(text, end)) addName(open.at(-1), text.slice(at, end))
      at = end - 1
    }
  }
}

/**
 * Finds a string member of the outermost object.
 * @param beginning the first part of JSON, which may end anywhere
 * @returns undefined unless the member is a string that ends within `beginning`
 */
export function memberWithin(beginning: string, name: string): string | undefined {
  let depth = 0
  for (let at = 0; at < beginning.length; at++) {
    const char = beginning[at]
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (char === '"') {
      const end = endOfString(beginning, at)
      if (depth === 1 && isName(beginning, end) && unquote(beginning.slice(at, end)) === name) {
        const start = beginning.indexOf('"', end)
        const isText = start >= 0 && beginning.slice(end, start).trim() === ':'
        return isText ? unquote(beginning.slice(start, endOfString(beginning, start))) : undefined
      }
      at = end - 1
    }
  }
  return undefined
}

/** The end of the string that begins at `start`; the text's length for an open string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1
    if (text[at] === '\\') at++
  }
  return text.length
}

function isName(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

function addName(names: Set<string> | undefined, quoted: string): void {
  const name = unquote(quoted)
  if (names === undefined || name === undefined) return
  if (names.has(name)) throw new RelayError('invalid_json', 'the body has a name twice in one object')
  names.add(name)
}

/** Decodes a JSON string; undefined if it is invalid. */
function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted)
  } catch {
    return undefined
  }
}
