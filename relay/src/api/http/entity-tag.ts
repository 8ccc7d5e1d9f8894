// Entity tags (RFC 9110 §8.8.3): which one a body has, and whether a client that asks has that body.

import { createHash } from 'node:crypto'

/** Opaque tags of a list, with or without the mark of a weak one; a comma may be part of one. */
const TAGS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** A strong one: equal bodies have equal tags, and others have others. */
export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

/** @param ifNoneMatch the header of a GET or HEAD (§13.1.2): tags are compared weakly, and `*` is any */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  for (const [, opaque] of ifNoneMatch.matchAll(TAGS)) if (opaque === tag) return true
  return false
}
