// Key exchange on noble, for a WebCrypto without the curve (X25519 came late to browsers). Loaded on demand.

import { x25519 } from '@noble/curves/ed25519.js'
import { p256, p384 } from '@noble/curves/nist.js'
import { violation } from '../errors.ts'
import { NAMED_GROUP } from '../messages/constants.ts'
import type { KeyPair } from './provider.ts'

export function nobleKeyPair(group: number): KeyPair {
  return group === NAMED_GROUP.x25519 ? x25519KeyPair() : curveKeyPair(group)
}

function x25519KeyPair(): KeyPair {
  const { secretKey, publicKey } = x25519.keygen()
  // The call throws on an all-zero secret (RFC 8446 §7.4.2).
  return keyPair(secretKey, publicKey, (peer) => x25519.getSharedSecret(secretKey, peer))
}

function curveKeyPair(group: number): KeyPair {
  const curve = group === NAMED_GROUP.secp256r1 ? p256 : p384
  const secretKey = curve.utils.randomSecretKey()
  // The secret is only the x coordinate (§7.4.2), without the prefix of a compressed point.
  return keyPair(secretKey, curve.getPublicKey(secretKey, false), (peer) =>
    curve.getSharedSecret(secretKey, peer).slice(1),
  )
}

function keyPair(
  secretKey: Uint8Array,
  keyExchange: Uint8Array,
  agree: (peer: Uint8Array) => Uint8Array,
): KeyPair {
  return {
    keyExchange,
    agree: (peer) => {
      try {
        return agree(peer)
      } catch (error) {
        throw violation('illegal_parameter', 'the key share is no point of its group', error)
      } finally {
        secretKey.fill(0)
      }
    },
    erase: () => void secretKey.fill(0),
  }
}
