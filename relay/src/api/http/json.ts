// JSON from outside: within bounds of depth and of values, and with each name once, so that everybody reads the same in it.

import { RelayError } from '../../errors.ts'
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../limits.ts'

/**
 * @throws RelayError `invalid_json` for what RFC 8259 does not allow or leaves open, `invalid_request` when it is too deep
 * or has too many values
 */
export function parseJson(text: string): unknown {
  // Before anything recurses into it.
  requireNarrow(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new RelayError('invalid_json', 'the body is not valid JSON')
  }
}

/**
 * RFC 8259 §4: names should be unique, and what a parser makes of others is unpredictable.
 * What is not JSON may pass here, or be refused for a wrong reason.
 */
function requireNarrow(text: string): void {
  /** Names of each object that is open, and undefined for each array. */
  const open: (Set<string> | undefined)[] = []
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === ',' || char === '{' || char === '[') values += 1
    if (values > JSON_VALUES_MAX)
      throw new RelayError('invalid_request', `the body has more than ${JSON_VALUES_MAX} values`)
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
 * The text of a member of the outermost object.
 * @param beginning of JSON; it may be cut off anywhere
 * @returns undefined when the member is not a text that is whole within `beginning`
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

/** Where the string that begins at `start` is over; behind the text when it never is. */
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

/** Escapes count for what they mean. */
function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted)
  } catch {
    return undefined
  }
}
