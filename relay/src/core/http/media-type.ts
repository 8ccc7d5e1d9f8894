// The Content-Type of a file, by its name (RFC 9110 §8.3).

import { lookup } from 'mrmime'

/** The type of a file of which nothing is known. */
const UNKNOWN = 'application/octet-stream'

/** @param name its extension decides, which is the same on every system. Text is UTF-8. */
export function mediaTypeOf(name: string): string {
  // An extension such as "constructor" finds something that is no string.
  const found: unknown = lookup(name)
  const type = typeof found === 'string' ? found : UNKNOWN
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}
