// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem §4): ML-KEM-768 first, then X25519, in shares and in the secret.

import { violation } from '../errors.ts'
import { NAMED_GROUP } from '../messages/constants.ts'
import { concat } from '../messages/writer.ts'
import type { CryptoProvider, KeyAgreement } from './provider.ts'

/** FIPS 203, table 3: an encapsulation key of ML-KEM-768. */
const ENCAPSULATION_KEY_BYTES = 1184

export async function agreeHybrid(
  peer: Uint8Array,
  agreeOnCurve: CryptoProvider['agree'],
): Promise<KeyAgreement> {
  const { ml_kem768 } = await import('@noble/post-quantum/ml-kem.js')
  const classical = await agreeOnCurve(NAMED_GROUP.x25519, peer.subarray(ENCAPSULATION_KEY_BYTES))
  try {
    const kem = ml_kem768.encapsulate(peer.subarray(0, ENCAPSULATION_KEY_BYTES))
    const sharedSecret = concat(kem.sharedSecret, classical.sharedSecret)
    kem.sharedSecret.fill(0)
    return { keyExchange: concat(kem.cipherText, classical.keyExchange), sharedSecret }
  } catch (error) {
    // FIPS 203 §7.2: the modulus check of the encapsulation key.
    throw violation('illegal_parameter', 'the ML-KEM encapsulation key is not valid', error)
  } finally {
    classical.sharedSecret.fill(0)
  }
}
