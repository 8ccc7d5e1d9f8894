// Parses the certificates that a site sends to a visitor, in a Certificate or CompressedCertificate message.

import { brotliDecompressSync, inflateSync } from 'node:zlib'
import {
  CERTIFICATE_COMPRESSION,
  type Certificate,
  HANDSHAKE_TYPE,
  parseCertificate,
  parseCompressedCertificate,
} from '@svc/tls/messages'
import { SignError } from './sign-error.ts'

/** Decompressed Certificate message of a signing request. Chains have a few KB. */
const CERTIFICATE_MESSAGE_MAX_BYTES = 64 * 1024

/** Decompression by algorithm (RFC 8879 §7.3). */
const DECOMPRESS: Readonly<Record<number, typeof inflateSync | typeof brotliDecompressSync>> = {
  [CERTIFICATE_COMPRESSION.zlib]: inflateSync,
  [CERTIFICATE_COMPRESSION.brotli]: brotliDecompressSync,
}

/** @throws SignError or DecodeError for another message, and for one that decompresses to another length than it states */
export function parseSentCertificate(message: Uint8Array): Certificate {
  if (message[0] !== HANDSHAKE_TYPE.compressed_certificate) return parseCertificate(message)
  const { algorithm, uncompressedLength, compressed } = parseCompressedCertificate(message)
  const decompress = DECOMPRESS[algorithm]
  if (decompress === undefined) throw new SignError(400, 'certificate has an unknown compression algorithm')
  if (uncompressedLength > CERTIFICATE_MESSAGE_MAX_BYTES)
    throw new SignError(400, `certificate is larger than ${CERTIFICATE_MESSAGE_MAX_BYTES} bytes`)
  return parseCertificate(asMessage(decompressed(decompress, compressed, uncompressedLength)))
}

/** RFC 8879 §4: the decompressed length must be the stated one. */
function decompressed(
  decompress: typeof inflateSync | typeof brotliDecompressSync,
  compressed: Uint8Array,
  length: number,
): Buffer {
  try {
    const body = decompress(compressed, { maxOutputLength: Math.max(length, 1) })
    if (body.length === length) return body
  } catch {
    // Invalid data gets the same error as another length.
  }
  throw new SignError(400, 'certificate does not decompress to its uncompressed_length')
}

function asMessage(body: Buffer): Buffer {
  const { length } = body
  return Buffer.concat([Buffer.of(HANDSHAKE_TYPE.certificate, length >> 16, length >> 8, length), body])
}
