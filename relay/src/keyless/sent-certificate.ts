// The certificates that a tenant shows a visitor: its Certificate message, or the CompressedCertificate in its place.

import { brotliDecompressSync, inflateSync } from 'node:zlib'
import {
  CERTIFICATE_COMPRESSION,
  type Certificate,
  HANDSHAKE_TYPE,
  parseCertificate,
  parseCompressedCertificate,
} from '@svc/tls/messages'
import { CERTIFICATE_MESSAGE_MAX_BYTES } from '../limits.ts'
import { SignError } from './sign-error.ts'

/** RFC 8879 §7.3. */
const DECOMPRESS: Readonly<Record<number, typeof inflateSync | typeof brotliDecompressSync>> = {
  [CERTIFICATE_COMPRESSION.zlib]: inflateSync,
  [CERTIFICATE_COMPRESSION.brotli]: brotliDecompressSync,
}

/** @throws SignError or DecodeError for what is neither, and for what does not decompress to the length that it claims */
export function parseSentCertificate(message: Uint8Array): Certificate {
  if (message[0] !== HANDSHAKE_TYPE.compressed_certificate) return parseCertificate(message)
  const { algorithm, uncompressedLength, compressed } = parseCompressedCertificate(message)
  const decompress = DECOMPRESS[algorithm]
  if (decompress === undefined) throw new SignError(400, 'certificate is compressed in an unknown way')
  if (uncompressedLength > CERTIFICATE_MESSAGE_MAX_BYTES)
    throw new SignError(400, `certificate is larger than ${CERTIFICATE_MESSAGE_MAX_BYTES} bytes`)
  return parseCertificate(asMessage(decompressed(decompress, compressed, uncompressedLength)))
}

/** RFC 8879 §4: what has another length than it claims is not to be believed. */
function decompressed(
  decompress: typeof inflateSync | typeof brotliDecompressSync,
  compressed: Uint8Array,
  length: number,
): Buffer {
  try {
    const body = decompress(compressed, { maxOutputLength: Math.max(length, 1) })
    if (body.length === length) return body
  } catch {
    // said below: it is as wrong as another length
  }
  throw new SignError(400, 'certificate does not decompress to its uncompressed_length')
}

function asMessage(body: Buffer): Buffer {
  const { length } = body
  return Buffer.concat([Buffer.of(HANDSHAKE_TYPE.certificate, length >> 16, length >> 8, length), body])
}
