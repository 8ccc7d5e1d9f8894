// @svc/tls/der: DER for certificates and certificate requests, without the TLS engine.

export { acmeCertificateId, encodeAcmeIdentifier } from './acme.ts'
export { authorityKeyId } from './authority-key-id.ts'
export { type CertificateFields, certificateFields } from './certificate-fields.ts'
export {
  type CertificateContent,
  encodeDnsNames,
  encodeExtension,
  encodeName,
  encodeSigned,
  encodeToBeSigned,
} from './certificate-writer.ts'
/** Object identifiers of certificates and certificate requests, as the content of an element in hexadecimal. */
export * as DER_OID from './oids.ts'
export { type DerElement, DerReader } from './reader.ts'
/** Tags of DER elements: their first byte. */
export * as DER_TAG from './tags.ts'
export { encodeDer, encodeDerOid } from './writer.ts'
