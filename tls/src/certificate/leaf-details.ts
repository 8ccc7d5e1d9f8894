// Reads the fields of a leaf certificate that its owner checks before use: the key, the validity and the issuer.

import { authorityKeyId } from '../der/authority-key-id.ts'
import { certificateFields, hex } from '../der/certificate-fields.ts'
import { DerReader } from '../der/reader.ts'
import { derTime } from '../der/time.ts'
import { TlsError } from '../errors.ts'

/** LeafDetails are fields of a leaf certificate (RFC 5280 §4.1). Byte fields are views into it. */
export interface LeafDetails {
  /** The SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array
  /** The first moment of the validity, in milliseconds since the epoch. */
  notBefore: number
  /** The last moment of the validity, in milliseconds since the epoch. */
  notAfter: number
  /** The issuer's name, as hexadecimal DER. */
  issuer: string
  /** The issuer's key identifier (§4.2.1.1), in hexadecimal. Undefined when the leaf names none. */
  issuerKey: string | undefined
}

/**
 * Returns the fields of a leaf.
 * @throws TlsError `unsupported_certificate` for bytes that are not a certificate
 */
export function leafDetailsOf(leafDer: Uint8Array): LeafDetails {
  try {
    const fields = certificateFields(leafDer)
    const times = new DerReader(fields.validity.content)
    const issuerKey = authorityKeyId(fields)
    return {
      publicKey: fields.publicKey.der,
      notBefore: derTime(times.take()),
      notAfter: derTime(times.take()),
      issuer: hex(fields.issuer.der),
      issuerKey: issuerKey && hex(issuerKey),
    }
  } catch (cause) {
    throw new TlsError('unsupported_certificate', 'the leaf is not an X.509 certificate', { cause })
  }
}
