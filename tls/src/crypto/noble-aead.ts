// AEADs on noble: ChaCha20-Poly1305, which WebCrypto lacks, and AES-GCM where there is no WebCrypto. Loaded on demand.

import { gcm } from '@noble/ciphers/aes.js'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { CIPHER_SUITE } from '../messages/constants.ts'
import type { Aead } from './provider.ts'

export function nobleAead(cipherSuite: number, key: Uint8Array): Aead {
  const cipher = cipherSuite === CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256 ? chacha20poly1305 : gcm
  return {
    seal: (nonce, additionalData, plaintext) => cipher(key, nonce, additionalData).encrypt(plaintext),
    open: (nonce, additionalData, ciphertext) => cipher(key, nonce, additionalData).decrypt(ciphertext),
  }
}
