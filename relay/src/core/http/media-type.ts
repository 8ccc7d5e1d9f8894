// The Content-Type of a file, by its name (RFC 9110 §8.3).

import { lookup } from 'mrmime'

/** The type of a file with an unknown extension. */
const UNKNOWN = 'application/octet-stream'

/** @param name only its extension counts, so that the result is the same on every system. Text is UTF-8. */
export function mediaTypeOf(name: string): string {
  // An extension such as "constructor" finds a value that is not a string.
  const found: unknown = lookup(name)
  const type = typeof found === 'string' ? found : UNKNOWN
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}
