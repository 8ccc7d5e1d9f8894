// `/v1/sign` as the SDK asks for it.

import type { SignRequest } from '@svc/tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requestSignature } from '../../src/control/signer.ts'
import { type FakeRelay, failure, type Reply, startFakeRelay } from '../support/fake-relay.ts'

const transcript: SignRequest = {
  algorithm: 'ECDSA_SHA256',
  clientHello: Uint8Array.of(1, 0, 0, 1, 0xff),
  serverHello: Uint8Array.of(2, 0, 0, 0),
  encryptedExtensions: Uint8Array.of(8, 0, 0, 0),
  certificate: new Uint8Array(20_000).fill(11),
}
const context = { accessToken: 'access.1', binding: new Uint8Array(16).fill(9) }
/** At the relay, in milliseconds. */
const NOW = 1_767_323_045_000
const good = { key_id: 'relay-cert', algorithm: 'ECDSA_SHA256', signature: 'MEQCIAECAwQ=' }
const never = new AbortController().signal

let relay: FakeRelay
beforeEach(async () => {
  relay = await startFakeRelay({ '/v1/sign': (_, response) => void response.end(JSON.stringify(good)) })
  relay.client.clock.granted(NOW)
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
      timestamp_unix: NOW / 1000,
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

describe('a refusal', () => {
  /** Refuses everything but the time of `at`, as a relay does whose clock says that. */
  const relayAt = (at: number): Reply => {
    return ({ body }, response) => {
      response.setHeader('Date', new Date(at).toUTCString())
      const isOff = Math.abs(Number(body.timestamp_unix) * 1000 - at) > 30_000
      if (isOff) response.writeHead(403).end('{"error":"timestamp_unix is more than 30 s off"}')
      else response.end(JSON.stringify(good))
    }
  }

  it.each([86_400_000, -86_400_000])(
    "whose date is %i ms from ours is asked again by the relay's time (protocol §10.3.13)",
    async (ms) => {
      relay.replies['/v1/sign'] = relayAt(NOW + ms)
      const signature = await requestSignature(relay.client, transcript, context, never)
      expect(Buffer.from(signature).toString('base64')).toBe(good.signature)
      expect(relay.calls.map(({ body }) => body.timestamp_unix)).toEqual([NOW / 1000, (NOW + ms) / 1000])
      expect(relay.calls[0]!.body.nonce).not.toBe(relay.calls[1]!.body.nonce)
    },
  )

  it('with the time that we have is taken as it is', async () => {
    relay.replies['/v1/sign'] = (_, response) =>
      void response.writeHead(403, { Date: new Date(NOW).toUTCString() }).end('{"error":"no"}')
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toMatchObject({
      code: 'sign_refused',
    })
    expect(relay.calls).toHaveLength(1)
  })

  it('is asked again once, whatever dates come', async () => {
    let at = NOW
    relay.replies['/v1/sign'] = (_, response) => {
      at += 86_400_000
      response.writeHead(403, { Date: new Date(at).toUTCString() }).end('{"error":"no"}')
    }
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toThrow('403: no')
    expect(relay.calls).toHaveLength(2)
  })
})

describe('a connection that is cut before the answer', () => {
  const cut: Reply = (_, response) => void response.destroy()

  it('is not the end: the next one is asked again, with a nonce of its own', async () => {
    const good = relay.replies['/v1/sign']!
    relay.replies['/v1/sign'] = (call, response) => {
      relay.replies['/v1/sign'] = good
      return cut(call, response)
    }
    const signature = await requestSignature(relay.client, transcript, context, never)
    expect(Buffer.from(signature).toString('base64')).toBe('MEQCIAECAwQ=')
    const [first, second] = relay.calls
    expect(first!.body.binding).toBe(second!.body.binding)
    expect(first!.body.nonce).not.toBe(second!.body.nonce)
  })

  it('a second time is the end', async () => {
    relay.replies['/v1/sign'] = cut
    await expect(requestSignature(relay.client, transcript, context, never)).rejects.toMatchObject({
      code: 'relay_unreachable',
    })
    expect(relay.calls).toHaveLength(2)
  })

  it('is not followed by another one where the visitor has left', async () => {
    const visitor = new AbortController()
    relay.replies['/v1/sign'] = (call, response) => {
      visitor.abort()
      return cut(call, response)
    }
    await expect(requestSignature(relay.client, transcript, context, visitor.signal)).rejects.toMatchObject({
      code: 'aborted',
    })
    expect(relay.calls).toHaveLength(1)
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
