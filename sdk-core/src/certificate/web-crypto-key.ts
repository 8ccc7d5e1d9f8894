// A site's key in WebCrypto, which can hold it so that no script can read it.

import { DER_TAG, encodeDer } from '@svc/tls/der'
import type { SiteKey } from './site-key.ts'

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGN_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const

/** A WebCryptoKey is the form in which a platform stores a site's key. Both fields can be stored in IndexedDB. */
export interface WebCryptoKey {
  /** Not extractable. */
  privateKey: CryptoKey
  /** The SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array
}

/** Makes a key whose private part no script can export. */
export async function createWebCryptoKey(): Promise<WebCryptoKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(KEY_ALGORITHM, false, ['sign'])
  return { privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey('spki', publicKey)) }
}

/** Returns a key that signs as a SiteKey does. */
export function siteKeyOf({ privateKey, publicKey }: WebCryptoKey): SiteKey {
  return {
    algorithm: 'ECDSA_SHA256',
    publicKey,
    sign: async (content) => {
      const signature = await crypto.subtle.sign(SIGN_ALGORITHM, privateKey, content.slice())
      return derSignature(new Uint8Array(signature))
    },
  }
}

/** Converts r and s, concatenated at equal length (IEEE P1363), to an ECDSA-Sig-Value (RFC 3279 §2.2.3). */
function derSignature(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  return encodeDer(
    DER_TAG.sequence,
    positiveInteger(signature.subarray(0, half)),
    positiveInteger(signature.subarray(half)),
  )
}

/** Encodes a positive INTEGER in the fewest bytes. A first bit of 1 would make it negative (X.690 §8.3). */
function positiveInteger(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? Uint8Array.of(0) : bytes.subarray(start)
  return digits[0]! < 0x80
    ? encodeDer(DER_TAG.integer, digits)
    : encodeDer(DER_TAG.integer, Uint8Array.of(0), digits)
}
