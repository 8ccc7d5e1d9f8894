// @svc/tls: a sans-I/O TLS server engine, whose certificate key may be on another host.

export { type CompressedCertificates, compressCertificates } from './certificate/compression.ts'
export { type SignAlgorithm, signAlgorithmOf, subjectNamesOf } from './certificate/leaf.ts'
export { type LeafDetails, leafDetailsOf } from './certificate/leaf-details.ts'
export type {
  ConnectionInfo,
  ProtocolVersion,
  ServerConfig,
  Signer,
  SignRequest,
  Tls12Signer,
  Tls12SignRequest,
} from './config.ts'
export type {
  Aead,
  CryptoProvider,
  HashFunction,
  KeyAgreement,
  KeyPair,
  MaybePromise,
  RunningHash,
} from './crypto/provider.ts'
export { webCrypto } from './crypto/webcrypto.ts'
export { TlsError } from './errors.ts'
export type { ClientAuthentication, ClientCertificate } from './handshake/client-authentication.ts'
export { type KeySigner, ownKeySigners } from './handshake/own-key.ts'
export { boundedSigner } from './handshake/signer.ts'
export type { Limits } from './limits.ts'
export { type ServerEvents, TlsServer } from './server.ts'
export { type Session, TicketSealer } from './session-tickets.ts'
