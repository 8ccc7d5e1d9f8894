// Compresses a chain once (RFC 8879), with the platform's compressors, for clients that support it.

import { encodeCertificate } from '../messages/certificate.ts'
import { encodeCompressedCertificate } from '../messages/compressed-certificate.ts'
import { CERTIFICATE_COMPRESSION, HANDSHAKE_HEADER_BYTES } from '../messages/constants.ts'

/** CompressedCertificates maps `CertificateCompressionAlgorithm` to a whole CompressedCertificate message. */
export type CompressedCertificates = ReadonlyMap<number, Uint8Array>

/** The names are those of the Compression Streams standard. `deflate` is the zlib format (RFC 1950). */
const FORMATS: readonly (readonly [algorithm: number, format: string])[] = [
  [CERTIFICATE_COMPRESSION.brotli, 'brotli'],
  [CERTIFICATE_COMPRESSION.zlib, 'deflate'],
]

/**
 * Resolves with the Certificate message for `chain` in each format that the platform supports and that makes it
 * shorter, the shortest first. The map is empty without CompressionStream.
 * @param chain DER, leaf first
 */
export async function compressCertificates(chain: readonly Uint8Array[]): Promise<CompressedCertificates> {
  const plain = encodeCertificate(chain)
  const body = plain.subarray(HANDSHAKE_HEADER_BYTES)
  const messages: [number, Uint8Array][] = []
  for (const [algorithm, format] of FORMATS) {
    const compressed = await compress(body, format)
    if (compressed === undefined) continue
    const message = encodeCompressedCertificate({ algorithm, uncompressedLength: body.length, compressed })
    if (message.length < plain.length) messages.push([algorithm, message])
  }
  return new Map(messages.sort(([, one], [, other]) => one.length - other.length))
}

/** @returns undefined when the platform lacks the format */
async function compress(bytes: Uint8Array, format: string): Promise<Uint8Array | undefined> {
  let stream: CompressionStream
  try {
    stream = new CompressionStream(format as CompressionFormat)
  } catch {
    return undefined
  }
  // A Response would do it in fewer lines, but Node loads its whole `fetch` for one.
  const writer = stream.writable.getWriter()
  const written = writer.write(bytes.slice()).then(() => writer.close())
  const [compressed] = await Promise.all([join(stream.readable.getReader()), written])
  return compressed
}

async function join(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array> {
  let joined = new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return joined
    const longer = new Uint8Array(joined.length + value.length)
    longer.set(joined)
    longer.set(value, joined.length)
    joined = longer
  }
}
