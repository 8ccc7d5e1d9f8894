// What ACME has of certificates: the identifier of one for renewal information (RFC 9773), and the extension of a proof (RFC 8737).

import { authorityKeyId } from './authority-key-id.ts'
import { certificateFields } from './certificate-fields.ts'
import { encodeExtension } from './certificate-writer.ts'
import * as DER_TAG from './tags.ts'
import { encodeDer } from './writer.ts'

/** id-pe-acmeIdentifier (RFC 8737 §3). */
const ACME_IDENTIFIER = '2b0601050507011f'

/**
 * Returns the identifier of a certificate (RFC 9773 §4.1); undefined for one that does not name the key of its issuer.
 * @throws RangeError for bytes that are not a certificate
 */
export function acmeCertificateId(certificate: Uint8Array): string | undefined {
  const fields = certificateFields(certificate)
  const keyId = authorityKeyId(fields)
  return keyId && `${base64url(keyId)}.${base64url(fields.serialNumber.content)}`
}

/**
 * Returns the critical extension by which a certificate proves a name.
 * @param digest the SHA-256 of the key authorization
 */
export function encodeAcmeIdentifier(digest: Uint8Array): Uint8Array {
  return encodeExtension(ACME_IDENTIFIER, encodeDer(DER_TAG.octetString, digest), true)
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
