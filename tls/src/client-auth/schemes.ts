// The signature schemes that clients may use (RFC 8446 §4.2.3), in the server's order of preference.

import type { KeyType } from '../x509/public-key.ts'
import type { SignatureAlgorithm } from '../x509/signature-algorithm.ts'

export interface Scheme {
  algorithm: SignatureAlgorithm
  /** The key that it needs. In TLS 1.2 an ECDSA scheme allows every curve (RFC 8446 §4.2.3). */
  keyType: KeyType
  /** True for RSA's old padding, which in TLS 1.3 may be in certificates alone. */
  isLegacy?: true
}

/** Maps a `SignatureScheme` to its algorithm. */
export const SCHEMES: ReadonlyMap<number, Scheme> = new Map<number, Scheme>([
  [0x0403, { algorithm: { name: 'ECDSA', hash: 'SHA-256' }, keyType: 'P-256' }],
  [0x0503, { algorithm: { name: 'ECDSA', hash: 'SHA-384' }, keyType: 'P-384' }],
  [0x0807, { algorithm: { name: 'Ed25519' }, keyType: 'Ed25519' }],
  [0x0804, { algorithm: { name: 'RSA-PSS', hash: 'SHA-256' }, keyType: 'RSA' }],
  [0x0805, { algorithm: { name: 'RSA-PSS', hash: 'SHA-384' }, keyType: 'RSA' }],
  [0x0806, { algorithm: { name: 'RSA-PSS', hash: 'SHA-512' }, keyType: 'RSA' }],
  [0x0401, { algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, keyType: 'RSA', isLegacy: true }],
  [0x0501, { algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' }, keyType: 'RSA', isLegacy: true }],
  [0x0601, { algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' }, keyType: 'RSA', isLegacy: true }],
])
