// What a server is configured with, and what it tells about a connection.

import type { CompressedCertificates } from './certificate/compression.ts'
import { SCHEME_OF, type SignAlgorithm } from './certificate/leaf.ts'
import type { CryptoProvider } from './crypto/provider.ts'
import { webCrypto } from './crypto/webcrypto.ts'
import { TlsError } from './errors.ts'
import { DEFAULT_LIMITS, type Limits, TIMER_MAX_MS } from './limits.ts'
import type { HashName } from './messages/transcript.ts'
import type { TicketSealer } from './session-tickets.ts'

/** Named as in Node's tls. */
export type ProtocolVersion = 'TLSv1.3' | 'TLSv1.2'

/** ServerConfig is what a {@link TlsServer} needs to know before its first byte. */
export interface ServerConfig {
  /** DER, leaf first. */
  certificateChain: readonly Uint8Array[]
  /**
   * The same chain in the forms of `compressCertificates`, for clients that ask (RFC 8879). The signer gets the message that is
   * sent.
   * @default none
   */
  compressedCertificates?: CompressedCertificates | undefined
  /** Of the leaf's key; see `signAlgorithmOf`. */
  algorithm: SignAlgorithm
  /** Signs the server's part of each full handshake of TLS 1.3. */
  sign: Signer
  /**
   * Signs the server's part of a TLS 1.2 handshake. With it the server serves clients that know nothing newer, and loads the code
   * for them when the first one comes. Only for a key that no certificate of other hosts has, because the signature names no host.
   * @default none: TLS 1.3 only
   */
  signTls12?: Tls12Signer | undefined
  /**
   * The hashes of transcripts that the signer can sign. The server does not agree on cipher suites with others.
   * @default all
   */
  hashes?: readonly HashName[] | undefined
  /**
   * Asks a client that sent no share of a common group for one (RFC 8446 §4.1.4); otherwise the server refuses it.
   * @default true
   */
  helloRetryRequest?: boolean | undefined
  /** The server's protocols in its order of preference. With none the server ignores the client's offer. */
  alpn: readonly string[]
  /**
   * Shared by the connections of a site, so that they resume each other's sessions. Without it there are no tickets.
   */
  tickets?: TicketSealer | undefined
  /**
   * The cryptography.
   * @default WebCrypto and noble
   */
  crypto?: CryptoProvider | undefined
  /** Bounds that differ from the defaults. */
  limits?: Partial<Limits> | undefined
  /** Called with the fields of the NSS key log, for debugging and tests only. */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}

/**
 * Signer signs a TLS 1.3 handshake, here or elsewhere. The signal is aborted when the signature is no longer needed.
 */
export type Signer = (request: SignRequest, signal: AbortSignal) => Promise<Uint8Array> | Uint8Array

/**
 * For a CertificateVerify (RFC 8446 §4.4.3): whole handshake messages, their 4-byte headers included, all that go into
 * the transcript to be signed.
 */
export interface SignRequest {
  algorithm: SignAlgorithm
  /** The first one, when there was a HelloRetryRequest. */
  clientHello: Uint8Array
  helloRetryRequest?: Uint8Array
  /** The ClientHello after the HelloRetryRequest. */
  clientHelloRetry?: Uint8Array
  serverHello: Uint8Array
  encryptedExtensions: Uint8Array
  /** Certificate, or the CompressedCertificate (RFC 8879 §4) that is sent in its place. */
  certificate: Uint8Array
}

/** Tls12Signer signs a TLS 1.2 handshake, for a site with a key of its own. */
export type Tls12Signer = (request: Tls12SignRequest, signal: AbortSignal) => Promise<Uint8Array> | Uint8Array

/** For a ServerKeyExchange of TLS 1.2 (RFC 8422 §5.4), which signs the last three, one after the other. */
export interface Tls12SignRequest {
  algorithm: SignAlgorithm
  clientRandom: Uint8Array
  serverRandom: Uint8Array
  /** The ServerECDHParams structure. */
  serverEcdhParams: Uint8Array
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

/** The same with what TLS 1.2 cannot do without. */
export type Tls12Settings = Settings & { signTls12: Tls12Signer }

/** @throws TlsError `invalid_config` */
export function settingsOf(config: ServerConfig): Settings {
  if (config.certificateChain.length === 0)
    throw new TlsError('invalid_config', 'the certificate chain is empty')
  if (!Object.hasOwn(SCHEME_OF, config.algorithm))
    throw new TlsError('invalid_config', `unknown algorithm ${config.algorithm}`)
  if (!config.alpn.every((name) => name.length > 0 && name.length < 256))
    throw new TlsError('invalid_config', 'an ALPN protocol name has 1 to 255 bytes')
  const limits = { ...DEFAULT_LIMITS, ...config.limits }
  for (const name of ['handshakeTimeoutMs', 'signTimeoutMs'] as const)
    if (!(limits[name] >= 0 && limits[name] <= TIMER_MAX_MS))
      throw new TlsError('invalid_config', `${name} is ${limits[name]}; 0 to ${TIMER_MAX_MS} is needed`)
  return {
    ...config,
    sign: (request, signal) => config.sign(request, signal),
    signTls12: config.signTls12 && ((request, signal) => config.signTls12!(request, signal)),
    crypto: config.crypto ?? webCrypto,
    limits,
  }
}
