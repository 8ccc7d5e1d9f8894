// Tokens that the relay makes and shows once: of administrators and of invitations. It keeps their SHA-256.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from '../config/schema.ts'

/** Nobody guesses 256 random bits, so that a plain hash is enough to store. */
const TOKEN_BYTES = 32

/** A SHA-256 in hex, as policy.json has it. */
export const tokenDigest: z.ZodType<string> = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex')

/** @param kind makes a lost token known to whoever finds it */
export function newToken(kind: 'admin' | 'invitation'): { token: string; digest: string } {
  const token = `svc-${kind}-${randomBytes(TOKEN_BYTES).toString('base64url')}`
  return { token, digest: digestOf(token).toString('hex') }
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Compares in constant time with every one, so that the time tells nothing of them. @returns the one that matches */
export function findByDigest<T extends { digest: Buffer }>(all: Iterable<T>, digest: Buffer): T | undefined {
  let found: T | undefined
  for (const one of all) if (timingSafeEqual(one.digest, digest)) found = one
  return found
}
