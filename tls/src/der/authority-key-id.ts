// Reads the identifier of the issuer's key from a certificate.

import { type CertificateFields, extensionValue } from './certificate-fields.ts'
import * as DER_OID from './oids.ts'
import { DerReader } from './reader.ts'
import * as DER_TAG from './tags.ts'

/** Returns the identifier of the issuer's key (§4.2.1.1); undefined when there is none. */
export function authorityKeyId(fields: CertificateFields): Uint8Array | undefined {
  const value = extensionValue(fields, DER_OID.authorityKeyIdentifier)
  const names = value && new DerReader(value).enter(DER_TAG.sequence)
  if (names === undefined || names.isDone) return undefined
  const first = names.take()
  return first.tag === DER_TAG.context0 ? first.content : undefined
}
