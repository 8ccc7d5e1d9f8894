// Sees what a connection does without asking the engine: through the seam to the primitives.

import type { CryptoProvider } from '../../src/index.ts'

export interface Observed {
  /** Keys of records that were made: two for the handshake, two for the data, one more for each KeyUpdate. */
  keys: number
  /** Records of the client with padding (RFC 8446 §5.4): their plaintext ends in a zero. */
  padded: number
}

export function observe(crypto: CryptoProvider, observed: Observed): CryptoProvider {
  const look = (inner: Uint8Array) => {
    if (inner.at(-1) === 0) observed.padded++
    return inner
  }
  return {
    randomBytes: (length) => crypto.randomBytes(length),
    agree: (group, peer) => crypto.agree(group, peer),
    keyPair: (group) => crypto.keyPair(group),
    aead: (suite, key) => {
      observed.keys++
      const aead = crypto.aead(suite, key)
      return {
        seal: (nonce, additionalData, plaintext) => aead.seal(nonce, additionalData, plaintext),
        open: (nonce, additionalData, ciphertext) => {
          const inner = aead.open(nonce, additionalData, ciphertext)
          return inner instanceof Promise ? inner.then(look) : look(inner)
        },
      }
    },
  }
}
