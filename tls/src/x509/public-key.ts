// Reads the public key of a certificate (RFC 5280 §4.1.2.7): its type, within the limits of what is verified here.

import { hex } from '../der/certificate-fields.ts'
import { DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import { RSA_EXPONENT_MAX_BYTES, RSA_MAX_BITS, RSA_MIN_BITS } from './limits.ts'
import * as OID from './oids.ts'

export type KeyType = 'RSA' | 'P-256' | 'P-384' | 'Ed25519'

export interface PublicKey {
  type: KeyType
  /** The SubjectPublicKeyInfo, DER. */
  spki: Uint8Array
}

const CURVES: Readonly<Record<string, KeyType>> = { [OID.secp256r1]: 'P-256', [OID.secp384r1]: 'P-384' }

/**
 * Reads a SubjectPublicKeyInfo.
 * @returns undefined for a key that is not verified here: of another type, or outside the limits
 * @throws RangeError for bytes that are none
 */
export function readPublicKey(spki: Uint8Array): PublicKey | undefined {
  const fields = new DerReader(spki).enter(DER_TAG.sequence)
  const algorithm = fields.enter(DER_TAG.sequence)
  const key = fields.take(DER_TAG.bitString).content
  fields.end()
  const id = hex(algorithm.take(DER_TAG.objectIdentifier).content)
  const type = typeOf(id, algorithm, key)
  return type && { type, spki }
}

function typeOf(id: string, parameters: DerReader, key: Uint8Array): KeyType | undefined {
  if (id === OID.ed25519) return parameters.isDone ? 'Ed25519' : undefined
  if (id === OID.rsaEncryption) return isAllowedRsa(key) ? 'RSA' : undefined
  if (id !== OID.ecPublicKey || parameters.isDone) return undefined
  const curve = parameters.take()
  return curve.tag === DER_TAG.objectIdentifier ? CURVES[hex(curve.content)] : undefined
}

/** Checks an RSAPublicKey (RFC 8017 §A.1.1) behind the byte that counts a BIT STRING's unused bits. */
function isAllowedRsa(bitString: Uint8Array): boolean {
  const numbers = new DerReader(bitString.subarray(1)).enter(DER_TAG.sequence)
  const modulus = positive(numbers.take(DER_TAG.integer).content)
  const exponent = positive(numbers.take(DER_TAG.integer).content)
  numbers.end()
  const bits = modulus.length * 8 - (Math.clz32(modulus[0]!) - 24)
  return (
    bits >= RSA_MIN_BITS &&
    bits <= RSA_MAX_BITS &&
    exponent.length <= RSA_EXPONENT_MAX_BYTES &&
    (exponent.at(-1)! & 1) === 1 &&
    (exponent.length > 1 || exponent[0]! > 1)
  )
}

/** Returns the digits of a positive INTEGER without the zero that keeps it positive (X.690 §8.3). */
function positive(content: Uint8Array): Uint8Array {
  const digits = content[0] === 0 ? content.subarray(1) : content
  if (digits.length === 0 || digits[0] === 0 || content[0]! > 0x7f)
    throw new RangeError('DER has an integer that is not positive')
  return digits
}
