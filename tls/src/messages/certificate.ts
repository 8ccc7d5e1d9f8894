// Certificate and CertificateVerify in their TLS 1.3 form (RFC 8446 §4.4.2, §4.4.3).

import { HANDSHAKE_TYPE } from './constants.ts'
import { DecodeError } from './errors.ts'
import { openMessage, readExtensions } from './extensions.ts'
import { Reader } from './reader.ts'
import { concat, handshakeMessage, u16, vector } from './writer.ts'

/** Certificate is the Certificate message of TLS 1.3 (RFC 8446 §4.4.2). */
export interface Certificate {
  /** The certificate_request_context. It is empty in a server's certificate. */
  context: Uint8Array
  /** The certificates as DER, leaf first. There is at least one. */
  certificates: Uint8Array[]
}

/**
 * Parses a whole Certificate message, header included.
 * @throws DecodeError
 */
export function parseCertificate(message: Uint8Array): Certificate {
  const reader = openMessage(message, HANDSHAKE_TYPE.certificate, 'Certificate')
  const context = reader.vector(1)
  const entries = new Reader(reader.vector(3, 1), 'certificate list')
  reader.end()
  const certificates: Uint8Array[] = []
  while (!entries.done) {
    certificates.push(entries.vector(3, 1))
    readExtensions(entries, 'CertificateEntry')
  }
  return { context, certificates }
}

/**
 * Encodes a Certificate message without extensions.
 * @param chain DER, leaf first
 */
export function encodeCertificate(chain: readonly Uint8Array[]): Uint8Array {
  const entries = chain.map((der) => concat(vector(3, der), vector(2)))
  return handshakeMessage(HANDSHAKE_TYPE.certificate, vector(1), vector(3, ...entries))
}

export function encodeCertificateVerify(scheme: number, signature: Uint8Array): Uint8Array {
  if (signature.length === 0) throw new DecodeError('internal_error', 'the signer gave an empty signature')
  return handshakeMessage(HANDSHAKE_TYPE.certificate_verify, u16(scheme), vector(2, signature))
}
