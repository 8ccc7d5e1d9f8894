// Builds X.509 certificates (RFC 5280), signed with the issuer's ECDSA P-256 key.

import { createPrivateKey, hash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import {
  certificateFields,
  DER_TAG,
  DerReader,
  encodeDer,
  encodeExtension,
  encodeSigned,
  encodeToBeSigned,
} from '@svc/tls/der'
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
const SUBJECT_KEY_IDENTIFIER = '551d0e'
const AUTHORITY_KEY_IDENTIFIER = '551d23'
const PEM_LINE = /.{1,64}/g

/** @returns the certificate as PEM */
export function buildCertificate({ issuer, subject, publicKey, days, extensions }: CertificateTerms): string {
  const notBefore = Date.now() - CLOCK_SKEW_MS
  const toBeSigned = encodeToBeSigned({
    serialNumber: serialNumber(),
    issuer: issuer.name,
    subject,
    publicKey,
    notBefore,
    notAfter: notBefore + CLOCK_SKEW_MS + days * DAY_MS,
    extensions: [
      ...extensions,
      encodeExtension(SUBJECT_KEY_IDENTIFIER, encodeDer(DER_TAG.octetString, keyIdOf(publicKey))),
      // A self-signed certificate may omit it (§4.2.1.1).
      ...(issuer.name === subject ? [] : [authorityKeyIdentifier(issuer)]),
    ],
  })
  return encodePem(encodeSigned(toBeSigned, sign('sha256', toBeSigned, issuer.key)))
}

/** An authority as the issuer of certificates. */
export function issuerOf({ certificate, key }: CertificateAuthority): Issuer {
  const { subject, publicKey } = readCertificate(certificate)
  return { name: subject, keyId: keyIdOf(publicKey), key: createPrivateKey(key) }
}

function authorityKeyIdentifier({ keyId }: Issuer): Uint8Array {
  return encodeExtension(
    AUTHORITY_KEY_IDENTIFIER,
    encodeDer(DER_TAG.sequence, encodeDer(DER_TAG.context0, keyId)),
  )
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

function encodePem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').match(PEM_LINE) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
