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
import type { CryptoProvider } from '../src/index.ts'
import { webCrypto } from '../src/index.ts'

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
    if (group === 0x001d) return agreeX25519(peer)
    if (group !== 0x0017) return webCrypto.agree(group, peer)
    const own = createECDH('prime256v1')
    const keyExchange = new Uint8Array(own.generateKeys())
    return { keyExchange, sharedSecret: new Uint8Array(own.computeSecret(peer)) }
  },
}

function agreeX25519(peer: Uint8Array) {
  const own = generateKeyPairSync('x25519')
  const keyExchange = new Uint8Array(Buffer.from(own.publicKey.export({ format: 'jwk' }).x!, 'base64url'))
  return { keyExchange, sharedSecret: x25519(own.privateKey, peer) }
}

/** RFC 7748 with a raw public key. */
export function x25519(privateKey: ReturnType<typeof createPrivateKey>, peer: Uint8Array): Uint8Array {
  const x = Buffer.from(peer).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
  return new Uint8Array(diffieHellman({ privateKey, publicKey }))
}
