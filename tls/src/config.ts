// What a server is configured with, and what it tells about a connection.

import { SCHEME_OF, type SignAlgorithm } from './certificate.ts'
import type { CryptoProvider } from './crypto/provider.ts'
import { webCrypto } from './crypto/webcrypto.ts'
import { TlsError } from './errors.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import type { TicketKeeper } from './tickets.ts'

/** Named as in Node's tls. */
export type ProtocolVersion = 'TLSv1.3' | 'TLSv1.2'

export interface ServerConfig {
  /** DER, leaf first. */
  certificateChain: readonly Uint8Array[]
  /** Of the leaf's key; see `signAlgorithmOf`. */
  algorithm: SignAlgorithm
  /** Signs the server's part of each full handshake. */
  sign: Signer
  /** By default TLS 1.3. TLS 1.2 is for clients that know nothing newer, and loaded when the first of them comes. */
  minVersion?: ProtocolVersion | undefined
  /** In the server's order of preference; empty: the client's offer is ignored. */
  alpn: readonly string[]
  /** Shared by the connections of a site, so that they resume each other's sessions; without it there are no tickets. */
  tickets?: TicketKeeper | undefined
  /** A DER OCSPResponse for the leaf, for clients that ask. */
  ocspResponse?: Uint8Array | undefined
  /** A SignedCertificateTimestampList (RFC 6962 §3.3) for the leaf, for clients that ask. */
  sctList?: Uint8Array | undefined
  /** WebCrypto and noble unless given. */
  crypto?: CryptoProvider | undefined
  limits?: Partial<Limits> | undefined
  /** NSS key log, for debugging and tests only. */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}

export type Signer = (request: SignRequest, signal: AbortSignal) => Promise<Uint8Array> | Uint8Array

export type SignRequest = Tls13SignRequest | Tls12SignRequest

/**
 * For a CertificateVerify (RFC 8446 §4.4.3): whole handshake messages, their 4-byte headers included, all that go into
 * the transcript to be signed.
 */
export interface Tls13SignRequest {
  version: 'TLSv1.3'
  algorithm: SignAlgorithm
  /** The first one, when there was a HelloRetryRequest. */
  clientHello: Uint8Array
  helloRetryRequest?: Uint8Array
  /** The ClientHello after the HelloRetryRequest. */
  clientHelloRetry?: Uint8Array
  serverHello: Uint8Array
  encryptedExtensions: Uint8Array
  certificate: Uint8Array
}

/** For a ServerKeyExchange (RFC 8422 §5.4), which signs the last three, one after the other. */
export interface Tls12SignRequest {
  version: 'TLSv1.2'
  algorithm: SignAlgorithm
  /** The whole message. */
  clientHello: Uint8Array
  clientRandom: Uint8Array
  serverRandom: Uint8Array
  /** The ServerECDHParams structure. */
  serverEcdhParams: Uint8Array
  /** The whole message. Not signed, but it says whose key is to sign. */
  certificate: Uint8Array
}

/** What was agreed on. */
export interface ConnectionInfo {
  version: ProtocolVersion
  /** Lower case. */
  serverName: string | undefined
  alpn: string | undefined
  cipherSuite: number
  group: number
  /** By a ticket: without a certificate and a signature. */
  resumed: boolean
}

/** A configuration that was looked at, with its defaults. */
export interface Settings extends ServerConfig {
  crypto: CryptoProvider
  limits: Limits
}

const VERSIONS: readonly ProtocolVersion[] = ['TLSv1.3', 'TLSv1.2']

/** @throws TlsError `invalid_config` */
export function settingsOf(config: ServerConfig): Settings {
  if (config.certificateChain.length === 0)
    throw new TlsError('invalid_config', 'the certificate chain is empty')
  if (!Object.hasOwn(SCHEME_OF, config.algorithm))
    throw new TlsError('invalid_config', `unknown algorithm ${config.algorithm}`)
  if (config.minVersion !== undefined && !VERSIONS.includes(config.minVersion))
    throw new TlsError('invalid_config', `minVersion ${config.minVersion} is not ${VERSIONS.join(' or ')}`)
  if (!config.alpn.every((name) => name.length > 0 && name.length < 256))
    throw new TlsError('invalid_config', 'an ALPN protocol name has 1 to 255 bytes')
  return {
    ...config,
    sign: (request, signal) => config.sign(request, signal),
    crypto: config.crypto ?? webCrypto,
    limits: { ...DEFAULT_LIMITS, ...config.limits },
  }
}
