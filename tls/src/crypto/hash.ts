// Hash, HMAC and HKDF without promises: the key schedule must not wait for a thread pool. The default is noble.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha384 } from '@noble/hashes/sha2.js'
import type { HashName } from '../messages/transcript.ts'
import { concat, u8, u16, vector } from '../messages/writer.ts'
import type { CryptoProvider, HashFunction } from './provider.ts'

/** A Hash is the hash of a cipher suite with the functions that TLS builds on it. */
export interface Hash extends HashFunction {
  /** HKDF-Extract (RFC 5869 §2.2). */
  extract(salt: Uint8Array, ikm: Uint8Array): Uint8Array
  /**
   * HKDF-Expand (RFC 5869 §2.3).
   * @throws RangeError for more than 255 digests
   */
  expand(secret: Uint8Array, info: Uint8Array, length: number): Uint8Array
  /** HKDF-Expand-Label (RFC 8446 §7.1). */
  expandLabel(secret: Uint8Array, label: string, context: Uint8Array, length: number): Uint8Array
}

/** The counter of HKDF-Expand is one byte (RFC 5869 §2.3). */
const BLOCKS_MAX = 255
const encoder = new TextEncoder()

export const HASH: Readonly<Record<HashName, Hash>> = {
  'SHA-256': withHkdf(onNoble(sha256)),
  'SHA-384': withHkdf(onNoble(sha384)),
}

export function hashOf({ hash }: CryptoProvider, name: HashName): Hash {
  return hash === undefined ? HASH[name] : withHkdf(hash(name))
}

function onNoble(algorithm: typeof sha256 | typeof sha384): HashFunction {
  return {
    length: algorithm.outputLen,
    start: () => algorithm.create(),
    digest: (bytes) => algorithm(bytes),
    hmac: (key, message) => hmac(algorithm, key, message),
  }
}

function withHkdf(hash: HashFunction): Hash {
  const { length: blockBytes, hmac } = hash
  const expand = (secret: Uint8Array, info: Uint8Array, length: number): Uint8Array => {
    if (length > BLOCKS_MAX * blockBytes) throw new RangeError(`HKDF cannot give ${length} bytes`)
    const output = new Uint8Array(length)
    let last: Uint8Array = new Uint8Array()
    for (let at = 0, counter = 1; at < length; at += blockBytes, counter++) {
      const block = hmac(secret, concat(last, info, u8(counter)))
      output.set(block.subarray(0, length - at), at)
      last.fill(0)
      last = block
    }
    last.fill(0)
    return output
  }
  return {
    ...hash,
    extract: hmac,
    expand,
    expandLabel: (secret, label, context, length) =>
      expand(secret, hkdfLabel(label, context, length), length),
  }
}

function hkdfLabel(label: string, context: Uint8Array, length: number): Uint8Array {
  return concat(u16(length), vector(1, encoder.encode(`tls13 ${label}`)), vector(1, context))
}
