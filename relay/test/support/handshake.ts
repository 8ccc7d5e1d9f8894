// Handshake messages (RFC 8446 §4) for the signer's tests, written out by hand but for the client's own hello.

import { randomBytes } from 'node:crypto'

/** A handshake message: type, 24-bit length, body. */
function message(type: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt32BE(body.length)
  header[0] = type
  return Buffer.concat([header, body])
}

/** The ClientHello message in the client's first records. */
export function helloOfRecords(records: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < records.length; at += 5 + records.readUInt16BE(at + 3))
    parts.push(records.subarray(at + 5, at + 5 + records.readUInt16BE(at + 3)))
  return Buffer.concat(parts)
}

const SUPPORTED_VERSIONS_1_3 = Buffer.from('002b00020304', 'hex')
const RETRY_RANDOM = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')

/** A ServerHello; by default with TLS_AES_128_GCM_SHA256 and an X25519 share. */
export function serverHello({ versions = SUPPORTED_VERSIONS_1_3, suite = '1301' } = {}): Buffer {
  const keyShare = Buffer.concat([Buffer.from('00330024001d0020', 'hex'), randomBytes(32)])
  return hello(randomBytes(32), suite, Buffer.concat([versions, keyShare]))
}

/** Asks for a P-256 share (RFC 8446 §4.1.4). */
export function helloRetryRequest({ suite = '1301' } = {}): Buffer {
  const selectedGroup = Buffer.from('003300020017', 'hex')
  return hello(RETRY_RANDOM, suite, Buffer.concat([SUPPORTED_VERSIONS_1_3, selectedGroup]))
}

function hello(random: Buffer, suite: string, extensions: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(extensions.length)
  return message(
    2,
    Buffer.concat([
      Buffer.from('0303', 'hex'),
      random,
      Buffer.from(`00${suite}00`, 'hex'),
      length,
      extensions,
    ]),
  )
}

export const EMPTY_ENCRYPTED_EXTENSIONS: Buffer = message(8, Buffer.of(0, 0))

/** @param chain DER, leaf first */
export function certificate(chain: readonly Uint8Array[]): Buffer {
  const entries = Buffer.concat(chain.flatMap((der) => [uint24(der.length), der, Buffer.of(0, 0)]))
  return message(11, Buffer.concat([Buffer.of(0), uint24(entries.length), entries]))
}

/** RFC 8879 §4. @param body of a Certificate message, compressed; `length` of it uncompressed, as the tenant claims */
export function compressedCertificate(algorithm: number, compressed: Uint8Array, length: number): Buffer {
  const head = Buffer.concat([Buffer.of(0, algorithm), uint24(length), uint24(compressed.length)])
  return message(25, Buffer.concat([head, compressed]))
}

function uint24(value: number): Buffer {
  return Buffer.of(value >> 16, (value >> 8) & 0xff, value & 0xff)
}
