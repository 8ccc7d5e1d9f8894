// The key that the machines derive from their secret, once at a start. Each use of it has a key of its own, derived from this one.

import { hkdfSync, scryptSync } from 'node:crypto'

const KEY_BYTES = 32
/**
 * The links show strangers a certificate of the CA that comes from the secret, and Redis shows what is sealed: each guess of a
 * weak secret has to cost 64 MiB and a fifth of a second (RFC 7914).
 */
const COST = 2 ** 16
const BLOCK_SIZE = 8
const MEMORY_MAX_BYTES: number = 2 * 128 * COST * BLOCK_SIZE

/** @param host authority of the relay's URL: relays with one secret have different keys, and no table of guesses serves for two */
export function deriveClusterKey(secret: string, host: string): Buffer {
  const options = { N: COST, r: BLOCK_SIZE, p: 1, maxmem: MEMORY_MAX_BYTES }
  return scryptSync(secret, `svc cluster v1 ${host}`, KEY_BYTES, options)
}

/** @param use what the key is for @param bytes its length */
export function deriveSubkey(key: Uint8Array, use: string, bytes: number = KEY_BYTES): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', use, bytes))
}
