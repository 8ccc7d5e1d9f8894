// CompressedCertificate and the extension that offers it (RFC 8879).

import { HANDSHAKE_TYPE } from './constants.ts'
import { openMessage } from './extensions.ts'
import { Reader } from './reader.ts'
import { handshakeMessage, u16, u24, vector } from './writer.ts'

/** CompressedCertificate is the CompressedCertificate message (RFC 8879 §4). */
export interface CompressedCertificate {
  /** One of `CERTIFICATE_COMPRESSION`. */
  algorithm: number
  /** The length that the sender claims for the body of the Certificate message, without its 4-byte header. */
  uncompressedLength: number
  /** The compressed body. After parsing it is a view into the message. */
  compressed: Uint8Array
}

/**
 * Parses `CertificateCompressionAlgorithm algorithms<2..2^8-2>` of the extension compress_certificate (§3), in the
 * client's order.
 */
export function parseCompressionAlgorithms(body: Uint8Array): number[] {
  const reader = new Reader(body, 'compress_certificate')
  const algorithms = reader.u16Vector(1)
  reader.end()
  return algorithms
}

/** Encodes a CompressedCertificate (§4). */
export function encodeCompressedCertificate({
  algorithm,
  uncompressedLength,
  compressed,
}: CompressedCertificate): Uint8Array {
  return handshakeMessage(
    HANDSHAKE_TYPE.compressed_certificate,
    u16(algorithm),
    u24(uncompressedLength),
    vector(3, compressed),
  )
}

/**
 * Parses a whole CompressedCertificate message.
 * @throws DecodeError `decode_error` for inconsistent lengths
 */
export function parseCompressedCertificate(message: Uint8Array): CompressedCertificate {
  const reader = openMessage(message, HANDSHAKE_TYPE.compressed_certificate, 'CompressedCertificate')
  const algorithm = reader.u16()
  const uncompressedLength = reader.u24()
  const compressed = reader.vector(3, 1)
  reader.end()
  return { algorithm, uncompressedLength, compressed }
}
