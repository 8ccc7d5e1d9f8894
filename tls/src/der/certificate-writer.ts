// Writes X.509 certificates (RFC 5280 §4.1) for a key of ECDSA P-256, which signs elsewhere.

import { ecdsaWithSha256 } from './oids.ts'
import * as DER_TAG from './tags.ts'
import { encodeDer, encodeDerOid } from './writer.ts'

/** CertificateContent is what an issuer signs. Byte fields are DER. */
export interface CertificateContent {
  /** A positive number, in the fewest bytes. */
  serialNumber: Uint8Array
  /** The issuer's Name. */
  issuer: Uint8Array
  /** The subject's Name. */
  subject: Uint8Array
  /** The SubjectPublicKeyInfo. */
  publicKey: Uint8Array
  /** The validity, in milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  /** Extension structures. */
  extensions: readonly Uint8Array[]
}

const VERSION_3 = 2
/** From this year on, times are GeneralizedTime (§4.1.2.5). */
const GENERALIZED_TIME_YEAR = 2050
const COMMON_NAME = '550403'
/** The first byte of a BIT STRING: the number of unused bits at its end (X.690 §8.6.2). */
const NO_UNUSED_BITS = Uint8Array.of(0)
const TRUE = encodeDer(DER_TAG.boolean, Uint8Array.of(0xff))
const ALGORITHM = sequence(encodeDerOid(ecdsaWithSha256))

/** Returns the TBSCertificate. */
export function encodeToBeSigned(content: CertificateContent): Uint8Array<ArrayBuffer> {
  return sequence(
    encodeDer(DER_TAG.constructed0, encodeDer(DER_TAG.integer, Uint8Array.of(VERSION_3))),
    encodeDer(DER_TAG.integer, content.serialNumber),
    ALGORITHM,
    content.issuer,
    sequence(encodeTime(content.notBefore), encodeTime(content.notAfter)),
    content.subject,
    content.publicKey,
    encodeDer(DER_TAG.constructed3, sequence(...content.extensions)),
  )
}

/** Returns a TBSCertificate, a CertificationRequestInfo or another structure with its signature, which is DER too. */
export function encodeSigned(toBeSigned: Uint8Array, signature: Uint8Array): Uint8Array<ArrayBuffer> {
  return sequence(toBeSigned, ALGORITHM, encodeDer(DER_TAG.bitString, NO_UNUSED_BITS, signature))
}

/** Returns a Name (§4.1.2.4) that has only a common name. */
export function encodeName(commonName: string): Uint8Array {
  const value = encodeDer(DER_TAG.utf8String, new TextEncoder().encode(commonName))
  return sequence(encodeDer(DER_TAG.set, sequence(encodeDerOid(COMMON_NAME), value)))
}

/**
 * Returns an Extension (§4.2).
 * @param id its object identifier, as in `DER_OID`
 */
export function encodeExtension(id: string, value: Uint8Array, isCritical = false): Uint8Array {
  const critical = isCritical ? [TRUE] : []
  return sequence(encodeDerOid(id), ...critical, encodeDer(DER_TAG.octetString, value))
}

/**
 * Returns the value of a subjectAltName (§4.2.1.6).
 * @param names hostnames in ASCII
 */
export function encodeDnsNames(names: readonly string[]): Uint8Array {
  const ascii = new TextEncoder()
  return sequence(...names.map((name) => encodeDer(DER_TAG.dnsName, ascii.encode(name))))
}

function encodeTime(ms: number): Uint8Array {
  const date = new Date(ms)
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/\D/g, '')
  const isGeneralized = date.getUTCFullYear() >= GENERALIZED_TIME_YEAR
  const text = `${isGeneralized ? digits : digits.slice(2)}Z`
  return encodeDer(isGeneralized ? DER_TAG.generalizedTime : DER_TAG.utcTime, new TextEncoder().encode(text))
}

function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return encodeDer(DER_TAG.sequence, ...parts)
}
