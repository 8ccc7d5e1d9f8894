// Computes and compares entity tags (RFC 9110 §8.8.3).

import { createHash } from 'node:crypto'

/** The opaque tags in a list, strong and weak ones. A tag may contain a comma. */
const TAGS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** The strong entity tag of a body. */
export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

/** Whether the header of a GET or HEAD names the tag (§13.1.2). The comparison is weak, and `*` matches any tag. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  for (const [, opaque] of ifNoneMatch.matchAll(TAGS)) if (opaque === tag) return true
  return false
}
