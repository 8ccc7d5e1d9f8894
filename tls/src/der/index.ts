// @svc/tls/der: DER as certificates and the requests for them have it, without the TLS engine.

export { authorityKeyId } from './authority-key-id.ts'
export { type CertificateFields, certificateFields } from './certificate-fields.ts'
/** Object identifiers that certificates and requests for them use, as the content of an element in hexadecimal. */
export * as DER_OID from './oids.ts'
export { type DerElement, DerReader } from './reader.ts'
/** Tags of DER's elements, as their first byte has them. */
export * as DER_TAG from './tags.ts'
export { encodeDer, encodeDerOid } from './writer.ts'
