// `/v1/sign`: what a tenant must show to get one signature, and what no tenant gets.

import { createHash, randomBytes, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import type { RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCarrier, type TestCarrier } from './support/carrier.ts'
import { certificate, helloOfRecords, helloRetryRequest, serverHello } from './support/handshake.ts'
import { type Answer, startTestRelay, type TestRelay } from './support/relay.ts'
import {
  type Activated,
  activate as activateFor,
  genuine as genuineFor,
  type SignFields,
  sign as signWith,
} from './support/sign.ts'

let relay: TestRelay
let chain: Buffer[]
let lease: RegisterResponse
let carrier: TestCarrier

beforeAll(async () => {
  relay = await startTestRelay()
  const pem = await relay.call('GET', '/sdk/certificate-chain')
  expect(pem).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-pem-file' } })
  chain = [new X509Certificate(pem.text).raw]
  lease = await relay.register('signer')
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
})
afterAll(() => relay.close())

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

  test('gets one signature over the hash of its handshake, outside the envelope', async () => {
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
    ['a clock 31 s slow', 403, () => ({ timestamp_unix: Math.floor(Date.now() / 1000) - 31 })],
    ['a clock 32 s fast', 403, () => ({ timestamp_unix: Math.floor(Date.now() / 1000) + 32 })],
    ['another key', 400, () => ({ key_id: 'other' })],
    ['another algorithm', 400, () => ({ algorithm: 'Ed25519' })],
    ['an unknown algorithm', 400, () => ({ algorithm: 'RSA_PKCS1' })],
    ['a nonce of 15 bytes', 400, () => ({ nonce: '00'.repeat(15) })],
    ['no ClientHello', 400, () => ({ client_hello: undefined })],
    ['text that is not base64', 400, () => ({ client_hello: '%' })],
  ])('%s is refused, and the binding stays usable', async (_name, status, change) => {
    const request = genuine(session)
    const answer = await sign({ ...request, ...change(request) })
    expect(answer).toMatchObject({ status, json: { error: expect.any(String) } })
    expect(await sign(request)).toMatchObject({ status: 200 })
  })

  test('is its own: another lease cannot use its binding, even with its ClientHello', async () => {
    const other = await relay.register('other')
    expect(await sign(genuine(session), other.access_token)).toMatchObject({ status: 403 })
    expect(await sign(genuine(session))).toMatchObject({ status: 200 })
  })
})

describe('a session of a client that knows TLS 1.2 only', () => {
  /** x25519, ServerECDHParams (RFC 8422 §5.4): named_curve, group, length, public key. */
  const params = Buffer.concat([Buffer.from('03001d20', 'hex'), randomBytes(32)])
  const exchange = ({ binding, clientHello }: Activated) => ({
    binding,
    client_hello: clientHello,
    client_random: clientHello.subarray(6, 38),
    server_random: randomBytes(32),
    server_ecdh_params: params,
  })
  let session: Activated
  beforeEach(async () => {
    session = await activate({ maxVersion: 'TLSv1.2' })
  })

  test('gets its ServerKeyExchange signed, once', async () => {
    const request = exchange(session)
    const { json } = await sign(request)
    const { signature } = json as unknown as { signature: string }
    const { publicKey } = new X509Certificate(chain[0]!)
    const signed = Buffer.concat([request.client_random, request.server_random, params])
    expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64'))).toBe(true)
    expect(await sign(request)).toMatchObject({ status: 403 })
  })

  test.each<[string, number, SignFields]>([
    ['another client_random', 403, { client_random: randomBytes(32) }],
    ['a server_random of 31 bytes', 400, { server_random: randomBytes(31) }],
    ['no parameters', 400, { server_ecdh_params: Buffer.alloc(0) }],
    ['an explicit curve', 400, { server_ecdh_params: Buffer.concat([Buffer.of(1), params.subarray(1)]) }],
    [
      'an unknown group',
      400,
      { server_ecdh_params: Buffer.concat([Buffer.from('030019', 'hex'), params.subarray(3)]) },
    ],
    ["a Certificate that is not the relay's", 403, { certificate: Buffer.from('0b0000030000', 'hex') }],
    ['a short point', 400, { server_ecdh_params: params.subarray(0, -1) }],
    ['a byte too many', 400, { server_ecdh_params: Buffer.concat([params, Buffer.of(0)]) }],
    [
      'text that TLS 1.3 signs',
      400,
      { server_ecdh_params: Buffer.from('TLS 1.3, server CertificateVerify\0') },
    ],
  ])('%s is refused, and the binding stays usable', async (_name, status, change) => {
    const request = exchange(session)
    expect(await sign({ ...request, ...change })).toMatchObject({
      status,
      json: { error: expect.any(String) },
    })
    expect(await sign(request)).toMatchObject({ status: 200 })
  })

  test('is the only kind that does: a downgrade is not signed', async () => {
    expect(await sign(exchange(await activate()))).toMatchObject({
      status: 403,
      json: { error: 'client_hello offers a version above TLS 1.2' },
    })
  })
})

describe('the endpoint', () => {
  test('a bad token is the enveloped 403', async () => {
    for (const token of ['', 'x.y.z', lease.reverse_endpoint.capability])
      expect(await sign({}, token)).toMatchObject({
        status: 403,
        json: { ok: false, error: { code: 'unauthorized' } },
      })
  })

  test('another media type is 415, another method 405, more than 512 KiB refused', async () => {
    expect(await sign({}, undefined, { 'Content-Type': 'text/plain' })).toMatchObject({ status: 415 })
    expect(await relay.call('GET', '/v1/sign')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    const large = await sign({ client_hello: 'A'.repeat(512 * 1024) })
    expect(large).toMatchObject({ status: 400, json: { error: expect.stringMatching(/larger than 524288/) } })
  })

  test('a visitor who left takes the binding along', async () => {
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
