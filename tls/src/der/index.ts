// @svc/tls/der: DER as certificates and the requests for them have it, without the TLS engine.

export { authorityKeyId } from './authority-key-id.ts'
export { type CertificateFields, certificateFields } from './certificate-fields.ts'
export * as DER_OID from './oids.ts'
export { type DerElement, DerReader } from './reader.ts'
export * as DER_TAG from './tags.ts'
export { encodeDer, encodeDerOid } from './writer.ts'
