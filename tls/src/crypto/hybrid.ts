// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem §4): ML-KEM-768 first, then X25519, in shares and in the secret.

import { violation } from '../errors.ts'
import { NAMED_GROUP } from '../messages/constants.ts'
import { concat } from '../messages/writer.ts'
import type { CryptoProvider, KeyAgreement } from './provider.ts'

/** An encapsulation key of ML-KEM-768 has this many bytes (FIPS 203, table 3). */
const ENCAPSULATION_KEY_BYTES = 1184

interface Encapsulated {
  sharedSecret: Uint8Array
  cipherText: Uint8Array
}

/**
 * The part of "Modern Algorithms in the Web Cryptography API" that is used here. Not every platform has it, and the
 * library's types do not know it.
 */
interface ModernSubtleCrypto {
  importKey(
    format: 'raw-public',
    key: Uint8Array,
    algorithm: 'ML-KEM-768',
    extractable: false,
    usages: ['encapsulateBits'],
  ): Promise<CryptoKey>
  encapsulateBits?(
    algorithm: 'ML-KEM-768',
    key: CryptoKey,
  ): Promise<{ sharedKey: ArrayBuffer; ciphertext: ArrayBuffer }>
}

export async function agreeHybrid(
  peer: Uint8Array,
  agreeOnCurve: CryptoProvider['agree'],
): Promise<KeyAgreement> {
  const classical = await agreeOnCurve(NAMED_GROUP.x25519, peer.subarray(ENCAPSULATION_KEY_BYTES))
  try {
    const kem = await encapsulate(peer.subarray(0, ENCAPSULATION_KEY_BYTES))
    const sharedSecret = concat(kem.sharedSecret, classical.sharedSecret)
    kem.sharedSecret.fill(0)
    return { keyExchange: concat(kem.cipherText, classical.keyExchange), sharedSecret }
  } catch (error) {
    // The modulus check of the encapsulation key failed (FIPS 203 §7.2).
    throw violation('illegal_parameter', 'an ML-KEM key that is not valid', error)
  } finally {
    classical.sharedSecret.fill(0)
  }
}

async function encapsulate(encapsulationKey: Uint8Array): Promise<Encapsulated> {
  const subtle = crypto.subtle as unknown as ModernSubtleCrypto | undefined
  if (subtle?.encapsulateBits === undefined) return encapsulateOnNoble(encapsulationKey)
  try {
    const key = await subtle.importKey('raw-public', encapsulationKey, 'ML-KEM-768', false, [
      'encapsulateBits',
    ])
    const { sharedKey, ciphertext } = await subtle.encapsulateBits('ML-KEM-768', key)
    return { sharedSecret: new Uint8Array(sharedKey), cipherText: new Uint8Array(ciphertext) }
  } catch (error) {
    // The platform has the call, but for other algorithms.
    if ((error as Error).name === 'NotSupportedError') return encapsulateOnNoble(encapsulationKey)
    throw error
  }
}

async function encapsulateOnNoble(encapsulationKey: Uint8Array): Promise<Encapsulated> {
  const { ml_kem768 } = await import('@noble/post-quantum/ml-kem.js')
  return ml_kem768.encapsulate(encapsulationKey)
}
