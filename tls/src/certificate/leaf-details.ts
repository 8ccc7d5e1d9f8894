// Reads the fields of a leaf certificate that its owner checks before use: the key, the validity and the issuer.

import { authorityKeyId } from '../der/authority-key-id.ts'
import { certificateFields, hex } from '../der/certificate-fields.ts'
import { type DerElement, DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
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

/** The year of a UTCTime whose two digits are 50 or more is in this century (§4.1.2.5.1). */
const UTC_TIME_PIVOT = 50

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
      notBefore: timeOf(times.take()),
      notAfter: timeOf(times.take()),
      issuer: hex(fields.issuer.der),
      issuerKey: issuerKey && hex(issuerKey),
    }
  } catch (cause) {
    throw new TlsError('unsupported_certificate', 'the leaf is not an X.509 certificate', { cause })
  }
}

/** Reads `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ` (§4.1.2.5). */
function timeOf({ tag, content }: DerElement): number {
  const text = String.fromCharCode(...content)
  const century = tag !== DER_TAG.utcTime ? '' : Number(text.slice(0, 2)) >= UTC_TIME_PIVOT ? '19' : '20'
  const [, date, hours, minutes, seconds] = /^(\d{8})(\d\d)(\d\d)(\d\d)Z$/.exec(century + text) ?? []
  if (date === undefined) throw new TlsError('unsupported_certificate', 'a time of the validity')
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
}
