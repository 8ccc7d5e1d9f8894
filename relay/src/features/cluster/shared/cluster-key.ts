// The key that the machines derive from their secret, once at each start. Each use has its own key, derived from this
// one.

import { hkdfSync, scryptSync } from 'node:crypto'

const KEY_BYTES = 32
/**
 * An attacker can test guesses of the secret against the links' certificates and the sealed entries of Redis: each
 * guess of a weak secret must cost 64 MiB and a fifth of a second (RFC 7914).
 */
const COST = 2 ** 16
const BLOCK_SIZE = 8
const MEMORY_MAX_BYTES: number = 2 * 128 * COST * BLOCK_SIZE

/** @param host authority of the relay's URL: it is the salt, so that relays with one secret have different keys */
export function deriveClusterKey(secret: string, host: string): Buffer {
  const options = { N: COST, r: BLOCK_SIZE, p: 1, maxmem: MEMORY_MAX_BYTES }
  return scryptSync(secret, `svc cluster v1 ${host}`, KEY_BYTES, options)
}

/** @param use what the key is for @param bytes length of the key */
export function deriveSubkey(key: Uint8Array, use: string, bytes: number = KEY_BYTES): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', use, bytes))
}
