// Verifies signatures by WebCrypto.

import { DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import type { KeyType, PublicKey } from './public-key.ts'
import { DIGEST_BYTES, type SignatureAlgorithm } from './signature-algorithm.ts'

/** The bytes of each of the two numbers of an ECDSA signature. */
const NUMBER_BYTES: Readonly<Partial<Record<KeyType, number>>> = { 'P-256': 32, 'P-384': 48 }

/** The parameters of WebCrypto for the key and for the signature. */
interface Parameters {
  key: { name: string; hash?: string; namedCurve?: string }
  verify: { name: string; hash?: string; saltLength?: number }
}

/**
 * Resolves with whether the key made the signature. It is false for a key of another type than the algorithm needs,
 * and for a key that this platform cannot use.
 */
export async function verifySignature(
  algorithm: SignatureAlgorithm,
  { type, spki }: PublicKey,
  signature: Uint8Array,
  content: Uint8Array,
): Promise<boolean> {
  const parameters = parametersOf(algorithm, type)
  const size = NUMBER_BYTES[type]
  try {
    const plain = size === undefined ? signature : plainEcdsa(signature, size)
    if (parameters === undefined || plain === undefined) return false
    const key = await crypto.subtle.importKey('spki', source(spki), parameters.key, false, ['verify'])
    return await crypto.subtle.verify(parameters.verify, key, source(plain), source(content))
  } catch {
    return false
  }
}

function parametersOf(algorithm: SignatureAlgorithm, type: KeyType): Parameters | undefined {
  const { name } = algorithm
  if (name === 'Ed25519') return type === name ? { key: { name }, verify: { name } } : undefined
  const { hash } = algorithm
  if (name === 'ECDSA')
    return type in NUMBER_BYTES ? { key: { name, namedCurve: type }, verify: { name, hash } } : undefined
  return type === 'RSA'
    ? { key: { name, hash }, verify: { name, saltLength: DIGEST_BYTES[hash] } }
    : undefined
}

/**
 * Converts an ECDSA-Sig-Value (RFC 3279 §2.2.3) to both numbers at equal length (IEEE P1363).
 * @returns undefined when a number is too long
 * @throws RangeError for bytes that are none
 */
function plainEcdsa(signature: Uint8Array, size: number): Uint8Array | undefined {
  const outer = new DerReader(signature)
  const numbers = outer.enter(DER_TAG.sequence)
  outer.end()
  const plain = new Uint8Array(2 * size)
  for (const end of [size, 2 * size]) {
    const { content } = numbers.take(DER_TAG.integer)
    const digits = content[0] === 0 ? content.subarray(1) : content
    if (digits.length > size || content[0]! > 0x7f) return undefined
    plain.set(digits, end - digits.length)
  }
  numbers.end()
  return plain
}

/** A cast: bytes over shared memory never get here, which the types do not express. */
function source(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>
}
