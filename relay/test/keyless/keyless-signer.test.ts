// `/v1/sign`: what a tenant must show to get one signature, and what no tenant gets.

import { createHash, randomBytes, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { brotliCompressSync, deflateSync } from 'node:zlib'
import type { RegisterResponse } from '@svc/protocol'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { KeylessSigner } from '../../src/core/keyless/keyless-signer.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import {
  certificate,
  compressedCertificate,
  helloOfRecords,
  helloRetryRequest,
  serverHello,
} from '../support/handshake.ts'
import { type Answer, startTestRelay } from '../support/relay.ts'
import {
  type Activated,
  activate as activateFor,
  genuine as genuineFor,
  type SignFields,
  sign as signWith,
} from '../support/sign.ts'

/** `CertificateCompressionAlgorithm`, RFC 8879 §7.3. */
const [ZLIB, BROTLI] = [1, 2]

let chain: Buffer[]
let lease: RegisterResponse
let carrier: TestCarrier

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  const pem = await relay.call('GET', '/sdk/certificate-chain')
  expect(pem).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-pem-file' } })
  chain = [new X509Certificate(pem.text).raw]
  lease = await relay.register('signer')
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
})

const activate = (options?: TlsOptions) => activateFor(relay, carrier, lease, options)
const genuine = (session: Activated) => genuineFor(session, chain)
const sign = (fields: SignFields, token = lease.access_token, headers?: Record<string, string>) =>
  signWith(relay, token, fields, headers)

/** RFC 8446 §4.4.3, written out: 64 spaces, the context string, a zero byte, the transcript hash. */
function verifies(answer: Answer, transcript: Buffer[], hash = 'sha256'): boolean {
  const digest = createHash(hash).update(Buffer.concat(transcript)).digest()
  const context = Buffer.from(`${' '.repeat(64)}TLS 1.3, server CertificateVerify\0`)
  const { signature } = answer.json as unknown as { signature: string }
  const { publicKey } = new X509Certificate(chain[0]!)
  return verify('sha256', Buffer.concat([context, digest]), publicKey, Buffer.from(signature, 'base64'))
}

describe('a session that was activated', () => {
  let session: Activated
  beforeEach(async () => {
    session = await activate()
  })

  test('a fault of the relay is {error} with 500, and is told in the log alone', async () => {
    const broken = vi
      .spyOn(KeylessSigner.prototype, 'sign')
      .mockRejectedValueOnce(new Error('the key is gone'))
    const { status, json } = await sign(genuine(session))
    broken.mockRestore()
    expect([status, json]).toEqual([
      500,
      { error: expect.stringMatching(/^the relay failed to handle the request; its log/) },
    ])
  })

  test('gets one signature over the hash of its handshake, outside the envelope (protocol §10.3.12)', async () => {
    const request = genuine(session)
    const answer = await sign(request)
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } })
    expect(answer.json).toEqual({
      key_id: 'relay-cert',
      algorithm: 'ECDSA_SHA256',
      signature: expect.any(String),
    })
    const { client_hello, server_hello, encrypted_extensions } = request
    expect(verifies(answer, [client_hello, server_hello, encrypted_extensions, request.certificate])).toBe(
      true,
    )
    expect(await sign(request)).toMatchObject({
      status: 403,
      json: { error: expect.stringMatching(/binding/) },
    })
  })

  test('with a SHA-384 suite signs the SHA-384 transcript', async () => {
    const request = { ...genuine(session), server_hello: serverHello({ suite: '1302' }) }
    const transcript = [
      request.client_hello,
      request.server_hello,
      request.encrypted_extensions,
      request.certificate,
    ]
    expect(verifies(await sign(request), transcript, 'sha384')).toBe(true)
  })

  test('with a HelloRetryRequest signs the transcript of RFC 8446 §4.4.1', async () => {
    const retry = helloRetryRequest()
    const request = {
      ...genuine(session),
      hello_retry_request: retry,
      client_hello_retry: session.clientHello,
    }
    const digest = createHash('sha256').update(session.clientHello).digest()
    const synthetic = Buffer.concat([Buffer.of(254, 0, 0, 32), digest])
    const { server_hello, encrypted_extensions } = request
    const rest = [server_hello, encrypted_extensions, request.certificate]
    expect(verifies(await sign(request), [synthetic, retry, session.clientHello, ...rest])).toBe(true)
  })

  describe('RFC 8879 with a CompressedCertificate', () => {
    const body = (): Buffer => certificate(chain).subarray(4)

    test.each([
      ['zlib', ZLIB, deflateSync],
      ['brotli', BROTLI, brotliCompressSync],
    ])('of %s signs the transcript with that message', async (_, algorithm, compress) => {
      const message = compressedCertificate(algorithm, compress(body()), body().length)
      const request = { ...genuine(session), certificate: message }
      const { client_hello, server_hello, encrypted_extensions } = request
      expect(verifies(await sign(request), [client_hello, server_hello, encrypted_extensions, message])).toBe(
        true,
      )
    })

    test.each<[string, () => Buffer]>([
      ['another algorithm', () => compressedCertificate(3, deflateSync(body()), body().length)],
      [
        'a length that is too small',
        () => compressedCertificate(ZLIB, deflateSync(body()), body().length - 1),
      ],
      [
        'a length that is too large',
        () => compressedCertificate(ZLIB, deflateSync(body()), body().length + 1),
      ],
      ['a length of 0', () => compressedCertificate(ZLIB, deflateSync(body()), 0)],
      ['bytes that are not compressed', () => compressedCertificate(BROTLI, body(), body().length)],
      [
        'what decompresses to no Certificate',
        () => compressedCertificate(ZLIB, deflateSync(body().subarray(1)), body().length - 1),
      ],
      [
        'a bomb that tells',
        () => compressedCertificate(ZLIB, deflateSync(Buffer.alloc(2 ** 24 - 1)), 2 ** 24 - 1),
      ],
      [
        'a bomb that does not',
        () => compressedCertificate(ZLIB, deflateSync(Buffer.alloc(2 ** 24 - 1)), 60_000),
      ],
    ])('400 for %s', async (_, message) => {
      const certificate = message()
      expect(await sign({ ...genuine(session), certificate })).toMatchObject({ status: 400 })
    })

    test('403 for another chain', async () => {
      const other = certificate([randomBytes(300)]).subarray(4)
      const message = compressedCertificate(ZLIB, deflateSync(other), other.length)
      expect(await sign({ ...genuine(session), certificate: message })).toMatchObject({ status: 403 })
    })
  })

  test.each<[string, number, (request: ReturnType<typeof genuine>) => SignFields]>([
    ['a changed ClientHello', 403, ({ client_hello }) => ({ client_hello: flip(client_hello, 10) })],
    ['another binding', 403, () => ({ binding: randomBytes(16) })],
    ['a binding of 15 bytes', 400, () => ({ binding: randomBytes(15) })],
    ['a ServerHello of TLS 1.2', 400, () => ({ server_hello: serverHello({ versions: Buffer.alloc(0) }) })],
    ['an unknown cipher suite', 400, () => ({ server_hello: serverHello({ suite: 'c02f' }) })],
    ['a HelloRetryRequest as ServerHello', 400, () => ({ server_hello: helloRetryRequest() })],
    ['half of a retry', 400, () => ({ hello_retry_request: helloRetryRequest() })],
    [
      'a retry of another suite',
      400,
      ({ client_hello }) => ({
        hello_retry_request: helloRetryRequest({ suite: '1302' }),
        client_hello_retry: client_hello,
      }),
    ],
    ["a certificate that is not the relay's", 403, () => ({ certificate: certificate([randomBytes(300)]) })],
    ['a longer chain', 403, () => ({ certificate: certificate([chain[0]!, chain[0]!]) })],
    ['no certificate', 400, () => ({ certificate: certificate([]) })],
    [
      'trailing bytes',
      400,
      (request) => ({ certificate: Buffer.concat([request.certificate, Buffer.of(0)]) }),
    ],
    [
      'EncryptedExtensions that are another message',
      400,
      (request) => ({ encrypted_extensions: request.certificate }),
    ],
    [
      'a CertificateRequest behind EncryptedExtensions',
      400,
      (request) => ({
        encrypted_extensions: Buffer.concat([request.encrypted_extensions, Buffer.of(13, 0, 0, 3, 0, 0, 0)]),
      }),
    ],
    ['a clock 31 s slow', 403, () => ({ timestamp_unix: Math.floor(Date.now() / 1000) - 31 })],
    ['a clock 32 s fast', 403, () => ({ timestamp_unix: Math.floor(Date.now() / 1000) + 32 })],
    ['another key', 400, () => ({ key_id: 'other' })],
    ['another algorithm', 400, () => ({ algorithm: 'Ed25519' })],
    ['an unknown algorithm', 400, () => ({ algorithm: 'RSA_PKCS1' })],
    ['a nonce of 15 bytes', 400, () => ({ nonce: '00'.repeat(15) })],
    ['no ClientHello', 400, () => ({ client_hello: undefined })],
    ['text that is not base64', 400, () => ({ client_hello: '%' })],
  ])(
    '%s is refused, and the binding stays usable (protocol §10.2.5, §10.3.3, §10.3.4, §10.3.6, §10.3.7, §10.3.8, §10.3.11, §10.3.12)',
    async (_name, status, change) => {
      const request = genuine(session)
      const answer = await sign({ ...request, ...change(request) })
      expect(answer).toMatchObject({ status, json: { error: expect.any(String) } })
      expect(await sign(request)).toMatchObject({ status: 200 })
    },
  )

  test('is its own: another lease cannot use its binding, even with its ClientHello (protocol §10.3.10)', async () => {
    const other = await relay.register('other')
    expect(await sign(genuine(session), other.access_token)).toMatchObject({ status: 403 })
    expect(await sign(genuine(session))).toMatchObject({ status: 200 })
  })
})

describe('the endpoint', () => {
  test('a bad token is the enveloped 403 (protocol §10.3.1)', async () => {
    for (const token of ['', 'x.y.z', lease.reverse_endpoint.capability])
      expect(await sign({}, token)).toMatchObject({
        status: 403,
        json: { ok: false, error: { code: 'unauthorized' } },
      })
  })

  test('another media type is 415, another method 405, more than 512 KiB refused (protocol §10.3.2, §10.3.11)', async () => {
    expect(await sign({}, undefined, { 'Content-Type': 'text/plain' })).toMatchObject({ status: 415 })
    for (const method of ['GET', 'PUT'])
      expect(await relay.call(method, '/v1/sign')).toMatchObject({
        status: 405,
        headers: { allow: 'POST' },
        json: { error: '/v1/sign allows POST' },
      })
    const large = await sign({ client_hello: 'A'.repeat(512 * 1024) })
    expect(large).toMatchObject({ status: 400, json: { error: expect.stringMatching(/larger than 524288/) } })
  })

  test('a visitor who left takes the binding along (protocol §10.3.12)', async () => {
    const { read, stream } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const visitor = relay.tls(lease.hostname)
    await read(1)
    const binding = await read(16)
    const header = await read(5)
    const clientHello = helloOfRecords(Buffer.concat([header, await read(header.readUInt16BE(3))]))
    visitor.destroy()
    stream.abort()
    await once(visitor, 'close')
    await expect.poll(() => sign(genuine({ binding, clientHello }))).toMatchObject({ status: 403 })
  })
})

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at]! ^= 1
  return changed
}
