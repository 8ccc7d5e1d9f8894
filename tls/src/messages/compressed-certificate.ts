// CompressedCertificate and the extension that asks for it (RFC 8879).

import { HANDSHAKE_TYPE } from './constants.ts'
import { openMessage } from './extensions.ts'
import { Reader } from './reader.ts'
import { handshakeMessage, u16, u24, vector } from './writer.ts'

/** CompressedCertificate is the CompressedCertificate message (RFC 8879 §4). */
export interface CompressedCertificate {
  /** A `CERTIFICATE_COMPRESSION`. */
  algorithm: number
  /** Bytes of the body of the Certificate message, its 4-byte header not included, as its sender claims. */
  uncompressedLength: number
  /** That body, compressed. A view into the message when it was parsed. */
  compressed: Uint8Array
}

/** §3: `CertificateCompressionAlgorithm algorithms<2..2^8-2>` of the extension compress_certificate, as the client lists them. */
export function parseCompressionAlgorithms(body: Uint8Array): number[] {
  const reader = new Reader(body, 'compress_certificate')
  const algorithms = reader.u16Vector(1)
  reader.end()
  return algorithms
}

/** §4. */
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

/** @throws DecodeError `decode_error` for lengths that do not add up */
export function parseCompressedCertificate(message: Uint8Array): CompressedCertificate {
  const reader = openMessage(message, HANDSHAKE_TYPE.compressed_certificate, 'CompressedCertificate')
  const algorithm = reader.u16()
  const uncompressedLength = reader.u24()
  const compressed = reader.vector(3, 1)
  reader.end()
  return { algorithm, uncompressedLength, compressed }
}
