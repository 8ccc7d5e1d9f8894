// The Content-Type of a file (RFC 9110 §8.3).

import { lookup } from 'mrmime'

/** RFC 9110 §8.3: what is sent when nothing is known. */
const UNKNOWN = 'application/octet-stream'

/** By the name's extension, which is the same on every system; else what the owner's system says. */
export function mediaType(file: File): string {
  const found: unknown = lookup(file.name) // an extension such as "constructor" finds what is no string
  const type = typeof found === 'string' ? found : file.type || UNKNOWN
  return type.startsWith('text/') && !type.includes('charset') ? `${type}; charset=utf-8` : type
}
