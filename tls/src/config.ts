// The configuration of a server, and the parameters of a connection.

import type { CompressedCertificates } from './certificate/compression.ts'
import { SCHEME_OF, type SignAlgorithm } from './certificate/leaf.ts'
import type { CryptoProvider } from './crypto/provider.ts'
import { webCrypto } from './crypto/webcrypto.ts'
import { TlsError } from './errors.ts'
import type { ClientAuthentication, ClientCertificate } from './handshake/client-authentication.ts'
import { DEFAULT_LIMITS, type Limits, TIMER_MAX_MS } from './limits.ts'
import type { HashName } from './messages/transcript.ts'
import type { TicketSealer } from './session-tickets.ts'

/** ProtocolVersion is a version of TLS, named as in Node's tls. */
export type ProtocolVersion = 'TLSv1.3' | 'TLSv1.2'

/** ServerConfig is the configuration that a {@link TlsServer} needs before its first byte. */
export interface ServerConfig {
  /** The certificates as DER, leaf first. */
  certificateChain: readonly Uint8Array[]
  /**
   * The same chain, compressed by `compressCertificates`, for clients that support it (RFC 8879). The signer gets
   * the message that is sent.
   * @default none
   */
  compressedCertificates?: CompressedCertificates | undefined
  /** The algorithm of the leaf's key, as `signAlgorithmOf` returns it. */
  algorithm: SignAlgorithm
  /** Signs the server's part of each full TLS 1.3 handshake. */
  sign: Signer
  /**
   * Signs the server's part of a TLS 1.2 handshake. With it, the server also serves clients without TLS 1.3, and
   * loads the code for them when the first one comes. Use it only for a key that no other host's certificate has,
   * because the signature names no host.
   * @default none: TLS 1.3 only
   */
  signTls12?: Tls12Signer | undefined
  /**
   * The transcript hashes that the signer supports. The server negotiates no cipher suites with others.
   * @default all
   */
  hashes?: readonly HashName[] | undefined
  /**
   * Requests a key share of a common group if the client sent none (RFC 8446 §4.1.4); if false, the server refuses it.
   * @default true
   */
  helloRetryRequest?: boolean | undefined
  /** The server's protocols in its order of preference. If empty, the server ignores the client's offer. */
  alpn: readonly string[]
  /**
   * Asks clients for a certificate and verifies it, as `clientAuthentication` of `@svc/tls/late` does. The server
   * then gives no tickets: a resumed session would not be verified again. The signer must sign the CertificateRequest too.
   * @default none: clients stay anonymous
   */
  clientCertificates?: ClientAuthentication | undefined
  /**
   * A sealer that the connections of a site share, so that they resume each other's sessions. Without it, there are no
   * tickets.
   * @default none
   */
  tickets?: TicketSealer | undefined
  /**
   * The cryptography.
   * @default WebCrypto and noble
   */
  crypto?: CryptoProvider | undefined
  /** Limits that differ from the defaults. */
  limits?: Partial<Limits> | undefined
  /**
   * Called with the fields of each line of the NSS key log, for debugging and tests only.
   * @default none
   */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}

/**
 * Signer signs a TLS 1.3 handshake, here or elsewhere. The signal is aborted when the signature is no longer needed.
 */
export type Signer = (request: SignRequest, signal: AbortSignal) => Promise<Uint8Array> | Uint8Array

/**
 * SignRequest has the transcript for a CertificateVerify (RFC 8446 §4.4.3): complete handshake messages, with their 4-byte
 * headers.
 */
export interface SignRequest {
  algorithm: SignAlgorithm
  /** The ClientHello. After a HelloRetryRequest it is the first one. */
  clientHello: Uint8Array
  helloRetryRequest?: Uint8Array
  /** The ClientHello after the HelloRetryRequest. */
  clientHelloRetry?: Uint8Array
  serverHello: Uint8Array
  /** The EncryptedExtensions, and behind it the CertificateRequest if the server asks for a certificate. */
  encryptedExtensions: Uint8Array
  /** The Certificate, or the CompressedCertificate (RFC 8879 §4) sent instead. */
  certificate: Uint8Array
}

/** Tls12Signer signs a TLS 1.2 handshake, for a site with its own key. */
export type Tls12Signer = (request: Tls12SignRequest, signal: AbortSignal) => Promise<Uint8Array> | Uint8Array

/**
 * Tls12SignRequest is for a ServerKeyExchange of TLS 1.2 (RFC 8422 §5.4), which signs its last three fields, one after
 * the other.
 */
export interface Tls12SignRequest {
  algorithm: SignAlgorithm
  clientRandom: Uint8Array
  serverRandom: Uint8Array
  /** The ServerECDHParams structure. */
  serverEcdhParams: Uint8Array
}

/** ConnectionInfo has the negotiated parameters of a connection. */
export interface ConnectionInfo {
  version: ProtocolVersion
  /** The host in the client's server_name, in lower case. */
  serverName: string | undefined
  alpn: string | undefined
  cipherSuite: number
  group: number
  /** True when a ticket resumed a session, without a certificate and a signature. */
  resumed: boolean
  /** The client's certificate, which was verified. Undefined when none was asked for, or when the client has none. */
  clientCertificate?: ClientCertificate | undefined
}

/** Settings is a checked configuration with its defaults. */
export interface Settings extends ServerConfig {
  crypto: CryptoProvider
  limits: Limits
}

/** Settings with the signer that TLS 1.2 needs. */
export type Tls12Settings = Settings & { signTls12: Tls12Signer }

/**
 * Checks a configuration and fills in defaults.
 * @throws TlsError `invalid_config`
 */
export function settingsOf(config: ServerConfig): Settings {
  if (config.certificateChain.length === 0)
    throw new TlsError('invalid_config', 'the certificate chain is empty')
  if (!Object.hasOwn(SCHEME_OF, config.algorithm))
    throw new TlsError('invalid_config', `unknown algorithm ${config.algorithm}`)
  if (!config.alpn.every((name) => name.length > 0 && name.length < 256))
    throw new TlsError('invalid_config', 'an ALPN name has 1 to 255 bytes')
  const limits = { ...DEFAULT_LIMITS, ...config.limits }
  for (const name of ['handshakeTimeoutMs', 'signTimeoutMs'] as const)
    if (!(limits[name] >= 0 && limits[name] <= TIMER_MAX_MS))
      throw new TlsError('invalid_config', `${name} is ${limits[name]}; 0 to ${TIMER_MAX_MS} is needed`)
  return {
    ...config,
    sign: (request, signal) => config.sign(request, signal),
    signTls12: config.signTls12 && ((request, signal) => config.signTls12!(request, signal)),
    tickets: config.clientCertificates ? undefined : config.tickets,
    crypto: config.crypto ?? webCrypto,
    limits,
  }
}
