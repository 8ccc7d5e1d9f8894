// The Content-Type of a file (RFC 9110 §8.3).

import { lookup } from 'mrmime'

/** The type of an unknown file (RFC 9110 §8.3). */
const UNKNOWN = 'application/octet-stream'

/** Returns the type for the name's extension, the same on every system. For an unknown one, the user's system decides. */
export function mediaType(name: string, given: string): string {
  const found: unknown = lookup(name) // For an extension such as "constructor" this is not a string.
  const type = typeof found === 'string' ? found : given || UNKNOWN
  return type.startsWith('text/') && !type.includes('charset') ? `${type}; charset=utf-8` : type
}
