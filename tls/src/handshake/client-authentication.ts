// The interface by which a handshake asks for the client's certificate and verifies it. Its code is loaded only when needed.

import type { TranscriptHash } from '../crypto/transcript-hash.ts'
import type { Channel } from './channel.ts'

/** A ClientCertificate is a certificate whose key the client has, and whose chain leads to a trusted CA. */
export interface ClientCertificate {
  /** The name of its owner, such as `CN=Alice,O=Example` (RFC 4514). */
  readonly subject: string
  /** The name of the CA that issued it. */
  readonly issuer: string
  /** In hexadecimal, in upper case. */
  readonly serialNumber: string
  /** The first moment of its validity. */
  readonly notBefore: Date
  /** The last moment of its validity. */
  readonly notAfter: Date
  /** The SHA-256 of `der`: hexadecimal bytes in upper case with colons between them, as other tools show it. */
  readonly fingerprint256: string
  readonly der: Uint8Array
}

/** Hands messages to a handshake, in order. */
type Messages = Pick<Channel, 'read'>
type Transcript = Pick<TranscriptHash, 'add' | 'digest'>

/**
 * A ClientAuthentication asks clients for certificates. `clientAuthentication` of `@svc/tls/late` makes one, for all
 * connections of a server.
 */
export interface ClientAuthentication {
  /** The CertificateRequest of TLS 1.3 (RFC 8446 §4.3.2). */
  readonly request: Uint8Array
  /** The CertificateRequest of TLS 1.2 (RFC 5246 §7.4.4). */
  readonly requestTls12: Uint8Array
  /**
   * Reads the client's Certificate and CertificateVerify of TLS 1.3 (RFC 8446 §4.4), and adds them to the transcript.
   * @returns undefined when the client has no certificate and needs none
   * @throws TlsError with the alert that tells the client what is wrong
   */
  read(messages: Messages, transcript: Transcript): Promise<ClientCertificate | undefined>
  /**
   * Reads the client's Certificate of TLS 1.2 (RFC 5246 §7.4.6).
   * @returns what reads the CertificateVerify (§7.4.8), given all messages before it
   * @throws TlsError as `read` does
   */
  readTls12(messages: Messages, transcript: Transcript): Promise<ReadVerifyTls12>
}

type ReadVerifyTls12 = (
  messages: Messages,
  transcript: Transcript,
  before: readonly Uint8Array[],
) => Promise<ClientCertificate | undefined>
