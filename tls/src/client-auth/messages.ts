// The messages of client authentication: CertificateRequest, and the client's Certificate and CertificateVerify.

import { violation } from '../errors.ts'
import { EXTENSION, HANDSHAKE_TYPE } from '../messages/constants.ts'
import { openMessage, readExtensions } from '../messages/extensions.ts'
import { Reader } from '../messages/reader.ts'
import { concat, extension, handshakeMessage, u16, vector } from '../messages/writer.ts'
import { CERTIFICATES_MAX, NAMES_MAX_BYTES } from './limits.ts'
import { SCHEMES } from './schemes.ts'

/** The `ExtensionType` certificate_authorities (RFC 8446 §4.2.4). */
const CERTIFICATE_AUTHORITIES = 47
/** The ClientCertificateTypes rsa_sign and ecdsa_sign, which covers Ed25519 (RFC 5246 §7.4.4, RFC 8422 §5.5). */
const CERTIFICATE_TYPES: Uint8Array = Uint8Array.of(1, 64)

/**
 * Encodes the CertificateRequest of TLS 1.3 (RFC 8446 §4.3.2), with an empty context.
 * @param names the names of the trusted CAs, DER
 */
export function encodeRequest(names: readonly Uint8Array[]): Uint8Array {
  const list = encodeNames(names)
  return handshakeMessage(
    HANDSHAKE_TYPE.certificate_request,
    vector(1),
    vector(
      2,
      extension(EXTENSION.signature_algorithms, vector(2, ...[...SCHEMES.keys()].map(u16))),
      list.length === 0 ? list : extension(CERTIFICATE_AUTHORITIES, vector(2, list)),
    ),
  )
}

/** Encodes the CertificateRequest of TLS 1.2 (RFC 5246 §7.4.4). */
export function encodeRequestTls12(names: readonly Uint8Array[]): Uint8Array {
  return handshakeMessage(
    HANDSHAKE_TYPE.certificate_request,
    vector(1, CERTIFICATE_TYPES),
    vector(2, ...[...SCHEMES.keys()].map(u16)),
    vector(2, encodeNames(names)),
  )
}

/** Returns nothing when the names are too long: a client then chooses among all its certificates. */
function encodeNames(names: readonly Uint8Array[]): Uint8Array {
  const list = concat(...names.map((name) => vector(2, name)))
  return list.length > NAMES_MAX_BYTES ? new Uint8Array() : list
}

/**
 * Parses a client's Certificate of TLS 1.3 (RFC 8446 §4.4.2).
 * @returns the certificates as DER, its own first; none when it has none
 * @throws TlsError
 */
export function parseCertificates(message: Uint8Array): Uint8Array[] {
  const reader = openMessage(message, HANDSHAKE_TYPE.certificate, 'Certificate')
  if (reader.vector(1).length > 0) throw violation('illegal_parameter', 'Certificate has another context')
  const entries = new Reader(reader.vector(3), 'certificate list')
  reader.end()
  const certificates: Uint8Array[] = []
  while (!entries.done) {
    certificates.push(entries.vector(3, 1))
    // The CertificateRequest asked for none (§4.4.2).
    if (readExtensions(entries, 'CertificateEntry').size > 0)
      throw violation('unsupported_extension', 'a CertificateEntry has an extension')
    requireFew(certificates)
  }
  return certificates
}

/** Parses a client's Certificate of TLS 1.2 (RFC 5246 §7.4.2) as {@link parseCertificates} does. */
export function parseCertificatesTls12(message: Uint8Array): Uint8Array[] {
  const reader = openMessage(message, HANDSHAKE_TYPE.certificate, 'Certificate')
  const entries = new Reader(reader.vector(3), 'certificate list')
  reader.end()
  const certificates: Uint8Array[] = []
  while (!entries.done) {
    certificates.push(entries.vector(3, 1))
    requireFew(certificates)
  }
  return certificates
}

function requireFew({ length }: readonly unknown[]): void {
  if (length > CERTIFICATES_MAX)
    throw violation('bad_certificate', `more than ${CERTIFICATES_MAX} certificates`)
}

/** Returns the bytes that a client's CertificateVerify signs in TLS 1.3 (RFC 8446 §4.4.3), as the server's has its own. */
export function verifyContent(transcriptHash: Uint8Array): Uint8Array {
  return concat(
    new TextEncoder().encode(`${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`),
    transcriptHash,
  )
}

/** Parses a CertificateVerify, which has one form in both versions (RFC 8446 §4.4.3, RFC 5246 §7.4.8). */
export function parseCertificateVerify(message: Uint8Array): { scheme: number; signature: Uint8Array } {
  const reader = openMessage(message, HANDSHAKE_TYPE.certificate_verify, 'CertificateVerify')
  const scheme = reader.u16()
  const signature = reader.vector(2)
  reader.end()
  return { scheme, signature }
}
