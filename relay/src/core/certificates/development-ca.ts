// Creates the development CA of a relay on localhost, and certificates that it issues. Machines trust the CA once.

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { DER_OID, DER_TAG, encodeDer, encodeDerOid, encodeExtension, encodeName } from '@svc/tls/der'
import { buildCertificate, issuerOf, keyIdOf } from './certificate-builder.ts'
import { type CertificateAuthority, caName, LEAF_NAME } from './development-names.ts'

export interface Leaf {
  /** PEM: the leaf, then the CA, so that a client that trusts this chain trusts every other leaf of the CA. */
  chain: string
  key: string
}

const AUTHORITY_DAYS = 3650
/** The longest validity that browsers accept from a public CA. */
const LEAF_DAYS = 397
const TRUE = encodeDer(DER_TAG.boolean, Uint8Array.of(0xff))
/** Object identifiers of RFC 5280 §4.2.1, as the content of an element in hexadecimal. */
const OID = {
  keyUsage: '551d0f',
  basicConstraints: '551d13',
  nameConstraints: '551d1e',
  extendedKeyUsage: '551d25',
  serverAuthentication: '2b06010505070301',
} as const
/** Bits of KeyUsage (§4.2.1.3), with the number of unused ones before them. */
const DIGITAL_SIGNATURE: Uint8Array = Uint8Array.of(7, 0x80)
const KEY_CERT_SIGN_AND_CRL_SIGN: Uint8Array = Uint8Array.of(1, 0x06)

/** Extensions of every leaf. */
const LEAF_EXTENSIONS: readonly Uint8Array[] = [
  encodeExtension(OID.basicConstraints, encodeDer(DER_TAG.sequence), true),
  keyUsage(DIGITAL_SIGNATURE),
  encodeExtension(OID.extendedKeyUsage, encodeDer(DER_TAG.sequence, encodeDerOid(OID.serverAuthentication))),
]

/** Creates a CA whose certificates are valid only for `host` and the names below it. */
export function createCa(host: string): CertificateAuthority {
  const key = newKey()
  const publicKey = publicKeyOf(key)
  const name = encodeName(caName(host))
  const noFurtherCa = encodeDer(DER_TAG.integer, Uint8Array.of(0))
  const certificate = buildCertificate({
    issuer: { name, keyId: keyIdOf(publicKey), key },
    subject: name,
    publicKey,
    days: AUTHORITY_DAYS,
    extensions: [
      encodeExtension(OID.basicConstraints, encodeDer(DER_TAG.sequence, TRUE, noFurtherCa), true),
      keyUsage(KEY_CERT_SIGN_AND_CRL_SIGN),
      // A thief of the key can impersonate only hosts that the constraints permit.
      encodeExtension(OID.nameConstraints, permittedDnsName(host), true),
    ],
  })
  return { certificate, key: exportKey(key) }
}

/** Issues a leaf with a new ECDSA P-256 key. @param names `host` and its wildcard by default */
export function createLeaf(
  authority: CertificateAuthority,
  host: string,
  names: readonly string[] = [host, `*.${host}`],
): Leaf {
  const key = newKey()
  const leaf = createLeafFor(authority, publicKeyOf(key), names)
  return { chain: leaf + authority.certificate, key: exportKey(key) }
}

const issuers = new WeakMap<CertificateAuthority, ReturnType<typeof issuerOf>>()

/**
 * Issues a leaf for an existing key of any kind.
 * @param publicKey SubjectPublicKeyInfo, DER
 * @param days for which it is valid
 * @returns PEM
 */
export function createLeafFor(
  authority: CertificateAuthority,
  publicKey: Uint8Array,
  names: readonly string[],
  days: number = LEAF_DAYS,
): string {
  const issuer = issuers.get(authority) ?? issuerOf(authority)
  issuers.set(authority, issuer)
  const alternativeNames = encodeDer(DER_TAG.sequence, ...names.map((name) => dnsName(name)))
  return buildCertificate({
    issuer,
    subject: encodeName(LEAF_NAME),
    publicKey,
    days,
    extensions: [...LEAF_EXTENSIONS, encodeExtension(DER_OID.subjectAltName, alternativeNames)],
  })
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
}

function publicKeyOf(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function keyUsage(bits: Uint8Array): Uint8Array {
  return encodeExtension(OID.keyUsage, encodeDer(DER_TAG.bitString, bits), true)
}

/** NameConstraints (RFC 5280 §4.2.1.10) with one permitted dNSName, which covers the names below it too. */
function permittedDnsName(host: string): Uint8Array {
  const subtree = encodeDer(DER_TAG.sequence, dnsName(host))
  return encodeDer(DER_TAG.sequence, encodeDer(DER_TAG.constructed0, subtree))
}

function dnsName(host: string): Uint8Array {
  return encodeDer(DER_TAG.dnsName, new TextEncoder().encode(host))
}
