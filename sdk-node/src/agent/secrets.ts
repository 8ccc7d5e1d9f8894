// Secrets of the control API: creation, and comparison in constant time.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32

/** @returns a secret of 256 bits, safe in a header and a URL */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

/** @returns the SHA-256 by which a secret is stored and looked up */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
