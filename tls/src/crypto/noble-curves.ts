// Key exchange on noble, for a WebCrypto without the curve (X25519 came late to browsers). Loaded on demand.

import { x25519 } from '@noble/curves/ed25519.js'
import { p256, p384 } from '@noble/curves/nist.js'
import { violation } from '../errors.ts'
import { NAMED_GROUP } from '../messages/constants.ts'
import type { KeyAgreement } from './provider.ts'

export function agreeWithNoble(group: number, peer: Uint8Array): KeyAgreement {
  try {
    if (group === NAMED_GROUP.x25519) {
      const own = x25519.keygen()
      // Throws on an all-zero secret (RFC 8446 §7.4.2).
      const sharedSecret = x25519.getSharedSecret(own.secretKey, peer)
      own.secretKey.fill(0)
      return { keyExchange: own.publicKey, sharedSecret }
    }
    const curve = group === NAMED_GROUP.secp256r1 ? p256 : p384
    const secretKey = curve.utils.randomSecretKey()
    const keyExchange = curve.getPublicKey(secretKey, false)
    // The x coordinate alone (§7.4.2), without the prefix of a compressed point.
    const sharedSecret = curve.getSharedSecret(secretKey, peer).slice(1)
    secretKey.fill(0)
    return { keyExchange, sharedSecret }
  } catch (error) {
    throw violation('illegal_parameter', 'the key share is no point of its group', error)
  }
}
