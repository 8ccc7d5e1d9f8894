// Builds X.509 certificates (RFC 5280), signed with the issuer's ECDSA P-256 key.

import { createPrivateKey, hash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { certificateFields, DER_OID, DER_TAG, DerReader, encodeDer, encodeDerOid } from '@svc/tls/der'
import type { CertificateAuthority } from './development-names.ts'

/** The issuer of a certificate, or the subject of a self-signed one. */
interface Issuer {
  /** Its Name, DER. */
  name: Uint8Array
  keyId: Uint8Array
  key: KeyObject
}

export interface CertificateTerms {
  issuer: Issuer
  /** The subject's Name, DER. */
  subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array
  days: number
  /** Extension structures, DER. The builder adds the key identifiers. */
  extensions: readonly Uint8Array[]
}

const DAY_MS = 86_400_000
/** Certificates are valid from this long before now, for clients whose clock is behind. */
const CLOCK_SKEW_MS = 3_600_000
const SERIAL_BYTES = 16
const VERSION_3 = 2
/** From this year on, times are GeneralizedTime (§4.1.2.5). */
const GENERALIZED_TIME_YEAR = 2050
const COMMON_NAME = '550403'
const SUBJECT_KEY_IDENTIFIER = '551d0e'
const AUTHORITY_KEY_IDENTIFIER = '551d23'
const TRUE = encodeDer(DER_TAG.boolean, Uint8Array.of(0xff))
const PEM_LINE = /.{1,64}/g

/** @returns the certificate as PEM */
export function buildCertificate({ issuer, subject, publicKey, days, extensions }: CertificateTerms): string {
  const algorithm = sequence(encodeDerOid(DER_OID.ecdsaWithSha256))
  const notBefore = Date.now() - CLOCK_SKEW_MS
  const toBeSigned = sequence(
    encodeDer(DER_TAG.constructed0, integer(Uint8Array.of(VERSION_3))),
    integer(serialNumber()),
    algorithm,
    issuer.name,
    sequence(time(notBefore), time(notBefore + CLOCK_SKEW_MS + days * DAY_MS)),
    subject,
    publicKey,
    encodeDer(
      DER_TAG.constructed3,
      sequence(
        ...extensions,
        extension(SUBJECT_KEY_IDENTIFIER, encodeDer(DER_TAG.octetString, keyIdOf(publicKey))),
        // A self-signed certificate may omit it (§4.2.1.1).
        ...(issuer.name === subject ? [] : [authorityKeyIdentifier(issuer)]),
      ),
    ),
  )
  return encodePem(sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, issuer.key))))
}

/** An authority as the issuer of certificates. */
export function issuerOf({ certificate, key }: CertificateAuthority): Issuer {
  const { subject, publicKey } = readCertificate(certificate)
  return { name: subject, keyId: keyIdOf(publicKey), key: createPrivateKey(key) }
}

/** Encodes a Name (§4.1.2.4) that has only a common name. */
export function encodeName(commonName: string): Uint8Array {
  const value = encodeDer(DER_TAG.utf8String, new TextEncoder().encode(commonName))
  return sequence(encodeDer(DER_TAG.set, sequence(encodeDerOid(COMMON_NAME), value)))
}

/**
 * Encodes an Extension (§4.2).
 * @param id its object identifier, as in {@link DER_OID}
 */
export function extension(id: string, value: Uint8Array, isCritical = false): Uint8Array {
  const critical = isCritical ? [TRUE] : []
  return sequence(encodeDerOid(id), ...critical, encodeDer(DER_TAG.octetString, value))
}

function authorityKeyIdentifier({ keyId }: Issuer): Uint8Array {
  return extension(AUTHORITY_KEY_IDENTIFIER, sequence(encodeDer(DER_TAG.context0, keyId)))
}

/** The key identifier of method (1) in §4.2.1.2: SHA-1 of the key without its algorithm. */
export function keyIdOf(publicKey: Uint8Array): Uint8Array {
  const info = new DerReader(publicKey).enter(DER_TAG.sequence)
  info.take(DER_TAG.sequence)
  return hash('sha1', info.take(DER_TAG.bitString).content.subarray(1), 'buffer')
}

/** Returns the subject's Name and the SubjectPublicKeyInfo of a certificate, DER. */
function readCertificate(pem: string): { subject: Uint8Array; publicKey: Uint8Array } {
  const { subject, publicKey } = certificateFields(new X509Certificate(pem).raw)
  return { subject: subject.der, publicKey: publicKey.der }
}

/** A positive number whose first byte is not zero, so that its encoding is the shortest one. */
function serialNumber(): Uint8Array {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

function time(ms: number): Uint8Array {
  const date = new Date(ms)
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/\D/g, '')
  const isGeneralized = date.getUTCFullYear() >= GENERALIZED_TIME_YEAR
  const text = `${isGeneralized ? digits : digits.slice(2)}Z`
  return encodeDer(isGeneralized ? DER_TAG.generalizedTime : DER_TAG.utcTime, Buffer.from(text))
}

function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return encodeDer(DER_TAG.sequence, ...parts)
}

function integer(bytes: Uint8Array): Uint8Array {
  return encodeDer(DER_TAG.integer, bytes)
}

function bitString(bytes: Uint8Array): Uint8Array {
  return encodeDer(DER_TAG.bitString, Uint8Array.of(0), bytes)
}

function encodePem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').match(PEM_LINE) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
