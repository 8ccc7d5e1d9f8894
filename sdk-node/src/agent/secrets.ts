// Secrets of the control API: how they are made, and compared in a time that says nothing about them.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32

/** @returns a secret of 256 bits, of characters that a header and a URL may have */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

/** @returns the SHA-256, under which a secret is kept and looked up */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
