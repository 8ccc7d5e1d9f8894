// Reads from the leaf certificate what a TLS server needs: the signature algorithm of its key, and its hostnames.

import { certificateFields, extensionValue, hex } from '../der/certificate-fields.ts'
import * as DER_OID from '../der/oids.ts'
import { DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import { TlsError } from '../errors.ts'
import { SIGNATURE_SCHEME } from '../messages/constants.ts'

/** SignAlgorithm is the signature algorithm of a key, named as in `/v1/sign`. */
export type SignAlgorithm = 'ECDSA_SHA256' | 'RSA_PSS_SHA256' | 'Ed25519'

/**
 * Maps an algorithm to the scheme of CertificateVerify, and in TLS 1.2 of ServerKeyExchange (RFC 8446 §4.2.3). A client
 * of TLS 1.2 that knows RSA only as PKCS #1 v1.5 needs a server with another key.
 */
export const SCHEME_OF: Readonly<Record<SignAlgorithm, number>> = {
  ECDSA_SHA256: SIGNATURE_SCHEME.ecdsa_secp256r1_sha256,
  RSA_PSS_SHA256: SIGNATURE_SCHEME.rsa_pss_rsae_sha256,
  Ed25519: SIGNATURE_SCHEME.ed25519,
}

/** Maps an AlgorithmIdentifier in hexadecimal DER to its algorithm (RFC 5480 §2.1.1, RFC 3279 §2.3.1, RFC 8410 §3). */
const KEY_ALGORITHMS: Readonly<Record<string, SignAlgorithm>> = {
  // id-ecPublicKey, prime256v1
  '06072a8648ce3d020106082a8648ce3d030107': 'ECDSA_SHA256',
  // rsaEncryption, NULL
  '06092a864886f70d0101010500': 'RSA_PSS_SHA256',
  // id-Ed25519
  '06032b6570': 'Ed25519',
}

/**
 * Returns the algorithm for `ServerConfig` from the leaf's SubjectPublicKeyInfo (RFC 5280 §4.1).
 * @throws TlsError `unsupported_certificate` for another key or for bytes that are not a certificate
 */
export function signAlgorithmOf(leafDer: Uint8Array): SignAlgorithm {
  const name = keyAlgorithm(leafDer)
  const algorithm = name === undefined ? undefined : KEY_ALGORITHMS[name]
  if (algorithm === undefined)
    throw new TlsError('unsupported_certificate', 'the key is not ECDSA P-256, RSA or Ed25519')
  return algorithm
}

/**
 * Returns the names of the leaf's subjectAltName (RFC 5280 §4.2.1.6): hostnames unchanged, and '' for other kinds.
 * @throws TlsError `unsupported_certificate` for bytes that are not a certificate
 */
export function subjectNamesOf(leafDer: Uint8Array): string[] {
  try {
    const value = extensionValue(certificateFields(leafDer), DER_OID.subjectAltName)
    if (value === undefined) return []
    const names: string[] = []
    const list = new DerReader(value).enter(DER_TAG.sequence)
    while (!list.isDone) {
      const { tag, content } = list.take()
      names.push(tag === DER_TAG.dnsName ? String.fromCharCode(...content) : '')
    }
    return names
  } catch (cause) {
    throw new TlsError('unsupported_certificate', 'the leaf is not an X.509 certificate', { cause })
  }
}

function keyAlgorithm(der: Uint8Array): string | undefined {
  try {
    return hex(new DerReader(certificateFields(der).publicKey.content).take().content)
  } catch {
    return undefined
  }
}
