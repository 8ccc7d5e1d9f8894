// The supported TLS 1.2 cipher suites (RFC 5289, RFC 7905): only ephemeral key exchange with an AEAD.

import type { SignAlgorithm } from '../certificate/leaf.ts'
import { CIPHER_SUITE } from '../messages/constants.ts'
import type { HashName } from '../messages/transcript.ts'

export interface Suite {
  id: number
  /** The TLS 1.3 suite with the same AEAD, which identifies it for a provider. */
  aead: number
  hash: HashName
  /** The bytes of the nonce from the key block, and those in each record (RFC 5288 §3; RFC 7905 §2). */
  fixedIvBytes: number
  recordIvBytes: number
}

const AES_GCM = { fixedIvBytes: 4, recordIvBytes: 8 } as const
const CHACHA20 = { fixedIvBytes: 12, recordIvBytes: 0 } as const

function suites(aes128: number, aes256: number, chacha20: number): readonly Suite[] {
  return [
    { id: aes128, aead: CIPHER_SUITE.TLS_AES_128_GCM_SHA256, hash: 'SHA-256', ...AES_GCM },
    { id: aes256, aead: CIPHER_SUITE.TLS_AES_256_GCM_SHA384, hash: 'SHA-384', ...AES_GCM },
    { id: chacha20, aead: CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256, hash: 'SHA-256', ...CHACHA20 },
  ]
}

/** The suites TLS_ECDHE_ECDSA, which are also for Ed25519 (RFC 8422 §5.10). */
const ECDSA: readonly Suite[] = suites(0xc02b, 0xc02c, 0xcca9)
/** The suites TLS_ECDHE_RSA. */
const RSA: readonly Suite[] = suites(0xc02f, 0xc030, 0xcca8)

/** SUITES has the suites in the server's order of preference. */
export const SUITES: Readonly<Record<SignAlgorithm, readonly Suite[]>> = {
  ECDSA_SHA256: ECDSA,
  RSA_PSS_SHA256: RSA,
  Ed25519: ECDSA,
}
