// RFC 8879: which client gets the certificate compressed. Chromium reads it in the interop matrix.

import { brotliDecompressSync, inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { compressCertificates, type ServerConfig, type SignRequest } from '../../src/index.ts'
import { encodeCertificate } from '../../src/messages/certificate.ts'
import { encodeCompressedCertificate } from '../../src/messages/compressed-certificate.ts'
import {
  ALERT,
  CERTIFICATE_COMPRESSION,
  DecodeError,
  parseClientHello,
  parseCompressedCertificate,
} from '../../src/messages/index.ts'
import { u16, vector } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { hex, toHex } from '../support/hex.ts'
import { RawClient } from '../support/raw-client.ts'

const { zlib, brotli } = CERTIFICATE_COMPRESSION
const ZSTD = 3
const identity = makeIdentity('rsa')
const chain = identity.config.certificateChain
const plain = encodeCertificate(chain)
const compressedCertificates = await compressCertificates(chain)
const config: ServerConfig = { ...identity.config, alpn: [], compressedCertificates }

const asks = (...algorithms: number[]): [number, Uint8Array] => [27, vector(1, ...algorithms.map(u16))]

/** Types of handshake messages that a client gets for this hello, up to the certificate. */
async function answer(server: ServerConfig, ...changed: [number, Uint8Array][]): Promise<RawClient> {
  const client = new RawClient(server)
  await client.connect(client.helloWith(...changed))
  expect(client.info).toBeDefined()
  client.server.abort()
  return client
}

test('§4 the message carries the body of Certificate, as node:zlib reads it', () => {
  const read: Record<number, (bytes: Uint8Array) => Uint8Array> = {
    [zlib]: inflateSync,
    [brotli]: brotliDecompressSync,
  }
  expect([...compressedCertificates.keys()].sort()).toEqual([zlib, brotli])
  for (const [algorithm, message] of compressedCertificates) {
    const parsed = parseCompressedCertificate(message)
    expect(parsed).toMatchObject({ algorithm, uncompressedLength: plain.length - 4 })
    expect(toHex(read[algorithm]!(parsed.compressed))).toBe(toHex(plain.subarray(4)))
    expect(message.length).toBeLessThan(plain.length)
  }
})

test('what compression makes longer is not offered', async () => {
  const random = crypto.getRandomValues(new Uint8Array(300))
  expect(await compressCertificates([random])).toEqual(new Map())
})

describe('§3 who gets it', () => {
  test.each([
    ['the shortest of those that the client takes', [ZSTD, zlib, brotli], 25],
    ['the only one that both know', [zlib], 25],
    ['none that both know', [ZSTD], 11],
  ])('%s', async (_, algorithms, type) => {
    const client = await answer(config, asks(...algorithms))
    expect(client.messages[2]).toBe(type)
  })

  test('a client that does not ask gets Certificate', async () => {
    expect((await answer(config)).messages[2]).toBe(11)
  })

  test('a server without compressed forms sends Certificate', async () => {
    const { compressedCertificates: _, ...without } = config
    expect((await answer(without, asks(zlib))).messages[2]).toBe(11)
  })

  test('the signer gets the message that is sent', async () => {
    const requests: SignRequest[] = []
    const sign: ServerConfig['sign'] = (request, signal) => {
      requests.push(request)
      return identity.config.sign(request, signal)
    }
    await answer({ ...config, sign }, asks(zlib))
    expect(requests[0]!.certificate).toEqual(compressedCertificates.get(zlib))
  })
})

describe('§3, §4 what does not parse', () => {
  const alertOf = (parse: () => unknown): number | undefined => {
    try {
      parse()
    } catch (error) {
      return error instanceof DecodeError ? error.alert : undefined
    }
  }

  test.each([
    ['an empty list', vector(1)],
    ['half an algorithm', vector(1, hex('000102'))],
    ['bytes behind the list', hex('02000100')],
  ])('compress_certificate with %s', (_, body) => {
    const client = new RawClient(config)
    const hello = client.helloWith([27, body])
    client.server.abort()
    expect(alertOf(() => parseClientHello(hello))).toBe(ALERT.decode_error)
  })

  test.each([
    ['no compressed bytes', hex('1900000800010000010000'.padEnd(24, '0'))],
    ['bytes behind it', hex('1900000a00010000010000010078')],
  ])('CompressedCertificate with %s', (_, message) => {
    expect(alertOf(() => parseCompressedCertificate(message))).toBe(ALERT.decode_error)
  })

  test('CompressedCertificate as it is written', () => {
    const parts = { algorithm: zlib, uncompressedLength: 0x010203, compressed: hex('aabb') }
    const message = encodeCompressedCertificate(parts)
    expect(toHex(message)).toBe('1900000a' + '0001' + '010203' + '000002' + 'aabb')
    expect(parseCompressedCertificate(message)).toEqual(parts)
  })
})
