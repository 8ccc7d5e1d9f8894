// The Content-Type of a file (RFC 9110 §8.3).

import { lookup } from 'mrmime'

/** The type of a file of which nothing is known (RFC 9110 §8.3). */
const UNKNOWN = 'application/octet-stream'

/** Returns the type by the name's extension, which is the same on every system. Where that says nothing, the user's system decides. */
export function mediaType(name: string, given: string): string {
  const found: unknown = lookup(name) // An extension such as "constructor" finds something that is no string.
  const type = typeof found === 'string' ? found : given || UNKNOWN
  return type.startsWith('text/') && !type.includes('charset') ? `${type}; charset=utf-8` : type
}
