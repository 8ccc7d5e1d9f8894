// The rules of RFC 8446 §4.4.1 by which messages enter a transcript hash.

import { CIPHER_SUITE, HANDSHAKE_TYPE } from './constants.ts'
import { handshakeMessage } from './writer.ts'

/** HashName names the hash of a TLS 1.3 cipher suite. */
export type HashName = 'SHA-256' | 'SHA-384'

/** Returns the hash of a TLS 1.3 cipher suite (§B.4). */
export function suiteHash(cipherSuite: number): HashName | undefined {
  switch (cipherSuite) {
    case CIPHER_SUITE.TLS_AES_128_GCM_SHA256:
    case CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256:
      return 'SHA-256'
    case CIPHER_SUITE.TLS_AES_256_GCM_SHA384:
      return 'SHA-384'
    default:
      return undefined
  }
}

/** Returns the synthetic message that replaces the first ClientHello after a HelloRetryRequest. */
export function messageHash(clientHelloHash: Uint8Array): Uint8Array {
  return handshakeMessage(HANDSHAKE_TYPE.message_hash, clientHelloHash)
}
