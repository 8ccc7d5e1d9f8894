// `/v1/sign` as the SDK asks for it.

import type { Tls13SignRequest } from '@svc/tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requestSignature } from '../src/control/signer.ts'
import { type FakeRelay, failure, startFakeRelay } from './support/fake-relay.ts'

const transcript: Tls13SignRequest = {
  version: 'TLSv1.3',
  algorithm: 'ECDSA_SHA256',
  clientHello: Uint8Array.of(1, 0, 0, 1, 0xff),
  serverHello: Uint8Array.of(2, 0, 0, 0),
  encryptedExtensions: Uint8Array.of(8, 0, 0, 0),
  certificate: new Uint8Array(20_000).fill(11),
}
const context = { accessToken: 'access.1', binding: new Uint8Array(16).fill(9), relayNow: 1_767_323_045_678 }
const good = { key_id: 'relay-cert', algorithm: 'ECDSA_SHA256', signature: 'MEQCIAECAwQ=' }
const never = new AbortController().signal

let relay: FakeRelay
beforeEach(async () => {
  relay = await startFakeRelay({ '/v1/sign': (_, response) => void response.end(JSON.stringify(good)) })
})
afterEach(() => relay.close())

describe('request', () => {
  it('sends whole messages, the binding and the time of the relay', async () => {
    const signature = await requestSignature(relay.client, transcript, context, never)
    expect(Buffer.from(signature).toString('base64')).toBe(good.signature)
    const [{ headers, body }] = relay.calls as [(typeof relay.calls)[0]]
    expect(headers['x-svc-access-token']).toBe('access.1')
    expect(body).toEqual({
      key_id: 'relay-cert',
      algorithm: 'ECDSA_SHA256',
      binding: 'CQkJCQkJCQkJCQkJCQkJCQ==',
      client_hello: 'AQAAAf8=',
      server_hello: 'AgAAAA==',
      encrypted_extensions: 'CAAAAA==',
      certificate: Buffer.alloc(20_000, 11).toString('base64'),
      timestamp_unix: 1_767_323_045,
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  it('adds both messages of a HelloRetryRequest, and never repeats a nonce', async () => {
    const retry = { helloRetryRequest: Uint8Array.of(2), clientHelloRetry: Uint8Array.of(1) }
    await requestSignature(relay.client, { ...transcript, ...retry }, context, never)
    await requestSignature(relay.client, transcript, context, never)
    const [first, second] = relay.calls
    expect(first!.body).toMatchObject({ hello_retry_request: 'Ag==', client_hello_retry: 'AQ==' })
    expect(first!.body.nonce).not.toBe(second!.body.nonce)
  })
})

describe('request for TLS 1.2', () => {
  it('sends the randoms and the parameters', async () => {
    const exchange = {
      version: 'TLSv1.2' as const,
      algorithm: 'ECDSA_SHA256' as const,
      clientHello: Uint8Array.of(1, 0, 0, 1, 0xff),
      clientRandom: new Uint8Array(32).fill(1),
      serverRandom: new Uint8Array(32).fill(2),
      serverEcdhParams: Uint8Array.of(3, 0, 29, 32),
      certificate: Uint8Array.of(11, 0, 0, 3, 0, 0, 0),
    }
    await requestSignature(relay.client, exchange, context, never)
    expect(relay.calls[0]!.body).toEqual({
      key_id: 'relay-cert',
      algorithm: 'ECDSA_SHA256',
      binding: 'CQkJCQkJCQkJCQkJCQkJCQ==',
      client_hello: 'AQAAAf8=',
      client_random: Buffer.alloc(32, 1).toString('base64'),
      server_random: Buffer.alloc(32, 2).toString('base64'),
      server_ecdh_params: 'AwAdIA==',
      certificate: 'CwAAAwAAAA==',
      timestamp_unix: 1_767_323_045,
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })
})

describe('answer', () => {
  it.each([400, 403, 405, 415, 500])('maps {error} with %i to sign_refused', async (status) => {
    relay.replies['/v1/sign'] = (_, response) => void response.writeHead(status).end('{"error":"no"}')
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toMatchObject({
      code: 'sign_refused',
      message: `${status}: no`,
    })
  })

  it('maps the enveloped refusal of the token to its code', async () => {
    relay.replies['/v1/sign'] = failure(403, 'unauthorized')
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })

  it.each([
    ['another key', { ...good, key_id: 'other' }],
    ['another algorithm', { ...good, algorithm: 'Ed25519' }],
    ['no signature', { ...good, signature: '' }],
    ['not base64', { ...good, signature: '!!!!!!!!!!!!' }],
    ['base64 of a wrong length', { ...good, signature: 'AAAAAAAAA' }],
    ['a huge signature', { ...good, signature: 'A'.repeat(4000) }],
    ['an array', []],
  ])('refuses %s', async (_, answer) => {
    relay.replies['/v1/sign'] = (_call, response) => void response.end(JSON.stringify(answer))
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toMatchObject({
      code: 'unexpected_answer',
    })
  })
})
