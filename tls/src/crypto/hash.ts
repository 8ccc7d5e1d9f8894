// Hash, HMAC and HKDF, synchronous on noble: the key schedule is short and must not wait for a thread pool.

import { expand, extract } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha384 } from '@noble/hashes/sha2.js'
import type { HashName } from '../messages/transcript.ts'
import { concat, u16, vector } from '../messages/writer.ts'

export interface RunningHash {
  update(bytes: Uint8Array): unknown
  clone(): RunningHash
  digest(): Uint8Array
}

/** The hash of a cipher suite with what TLS builds on it. */
export interface Hash {
  readonly length: number
  start(): RunningHash
  digest(bytes: Uint8Array): Uint8Array
  hmac(key: Uint8Array, message: Uint8Array): Uint8Array
  /** HKDF-Extract (RFC 5869 §2.2). */
  extract(salt: Uint8Array, ikm: Uint8Array): Uint8Array
  /** HKDF-Expand-Label (RFC 8446 §7.1). */
  expandLabel(secret: Uint8Array, label: string, context: Uint8Array, length: number): Uint8Array
}

function hash(algorithm: typeof sha256 | typeof sha384): Hash {
  return {
    length: algorithm.outputLen,
    start: () => algorithm.create(),
    digest: (bytes) => algorithm(bytes),
    hmac: (key, message) => hmac(algorithm, key, message),
    extract: (salt, ikm) => extract(algorithm, ikm, salt),
    expandLabel: (secret, label, context, length) =>
      expand(algorithm, secret, hkdfLabel(label, context, length), length),
  }
}

function hkdfLabel(label: string, context: Uint8Array, length: number): Uint8Array {
  return concat(u16(length), vector(1, new TextEncoder().encode(`tls13 ${label}`)), vector(1, context))
}

export const HASH: Readonly<Record<HashName, Hash>> = {
  'SHA-256': hash(sha256),
  'SHA-384': hash(sha384),
}
