// @svc/tls/messages: the codec with which a relay reads handshakes. It has no secrets and no cryptography.
export { alertName, alertRecord } from './alert.ts'
export { type Certificate, parseCertificate } from './certificate.ts'
export { certificateVerifyContent } from './certificate-verify-content.ts'
export { type ClientHello, type KeyShareEntry, parseClientHello } from './client-hello.ts'
export { ClientHelloReader } from './client-hello-reader.ts'
export { type CompressedCertificate, parseCompressedCertificate } from './compressed-certificate.ts'
export {
  ALERT,
  type AlertName,
  CERTIFICATE_COMPRESSION,
  CIPHER_SUITE,
  EXTENSION,
  HANDSHAKE_TYPE,
  NAMED_GROUP,
  SIGNATURE_SCHEME,
  VERSION,
} from './constants.ts'
export { type EncryptedExtensions, parseEncryptedExtensions } from './encrypted-extensions.ts'
export { DecodeError, TlsError } from './errors.ts'
export type { Extensions } from './extensions.ts'
export type { OfferedPsks } from './pre-shared-key.ts'
export { parseServerHello, type ServerHello } from './server-hello.ts'
export { type HashName, messageHash, suiteHash } from './transcript.ts'
