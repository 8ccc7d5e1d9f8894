// Keys of certificates, as the tests of ACME need them.

import { createPublicKey, generateKeyPairSync } from 'node:crypto'

/** A new ECDSA P-256 key as PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The SubjectPublicKeyInfo of a key, DER. @param key PEM */
export function publicKeyOf(key: string): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}
