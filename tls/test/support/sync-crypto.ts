// A provider that answers at once, on node:crypto: the other half of the seam, and what the raw client computes with.

import {
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createECDH,
  type createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import { violation } from '../../src/errors.ts'
import type { CryptoProvider } from '../../src/index.ts'
import { webCrypto } from '../../src/index.ts'

const CIPHER: Record<number, string> = {
  4865: 'aes-128-gcm',
  4866: 'aes-256-gcm',
  4867: 'chacha20-poly1305',
}

export const syncCrypto: CryptoProvider = {
  randomBytes: (length) => new Uint8Array(randomBytes(length)),
  aead: (suite, key) => {
    // All three have the API of GCM.
    const name = CIPHER[suite]! as CipherGCMTypes
    const options = { authTagLength: 16 }
    return {
      seal: (nonce, additionalData, plaintext) => {
        const cipher = createCipheriv(name, key, nonce, options)
        cipher.setAAD(additionalData)
        const body = cipher.update(plaintext)
        cipher.final()
        return new Uint8Array(Buffer.concat([body, cipher.getAuthTag()]))
      },
      open: (nonce, additionalData, ciphertext) => {
        const decipher = createDecipheriv(name, key, nonce, options)
        decipher.setAAD(additionalData)
        decipher.setAuthTag(ciphertext.subarray(-16))
        const body = decipher.update(ciphertext.subarray(0, -16))
        decipher.final()
        return new Uint8Array(body)
      },
    }
  },
  agree: (group, peer) => {
    if (group !== 0x001d && group !== 0x0017) return webCrypto.agree(group, peer)
    const own = syncKeyPair(group)
    return { keyExchange: own.keyExchange, sharedSecret: own.agree(peer) }
  },
  keyPair: (group) =>
    group === 0x001d || group === 0x0017
      ? { ...syncKeyPair(group), erase: () => {} }
      : webCrypto.keyPair(group),
}

function syncKeyPair(group: 0x001d | 0x0017) {
  if (group === 0x0017) {
    const own = createECDH('prime256v1')
    const keyExchange = new Uint8Array(own.generateKeys())
    return { keyExchange, agree: (peer: Uint8Array) => valid(() => new Uint8Array(own.computeSecret(peer))) }
  }
  const own = generateKeyPairSync('x25519')
  const keyExchange = new Uint8Array(Buffer.from(own.publicKey.export({ format: 'jwk' }).x!, 'base64url'))
  return { keyExchange, agree: (peer: Uint8Array) => valid(() => x25519(own.privateKey, peer)) }
}

function valid(agree: () => Uint8Array): Uint8Array {
  try {
    return agree()
  } catch (error) {
    throw violation('illegal_parameter', 'the key share is no point of its group', error)
  }
}

/** RFC 7748 with a raw public key. */
export function x25519(privateKey: ReturnType<typeof createPrivateKey>, peer: Uint8Array): Uint8Array {
  const x = Buffer.from(peer).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
  return new Uint8Array(diffieHellman({ privateKey, publicKey }))
}
