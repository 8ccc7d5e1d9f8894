// The certificate chain: PEM (RFC 7468) to DER.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CHAIN_MAX_CERTIFICATES,
  fetchCertificateChain,
  parsePem,
} from '../../src/certificate/certificate-chain.ts'
import { type FakeRelay, failure, startFakeRelay } from '../support/fake-relay.ts'

const LEAF = Uint8Array.of(0x30, 0x82, 0x01, 0x0a, 1, 2, 3)
const block = (bytes: Uint8Array, eol = '\n'): string => {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .replace(/(.{4})(?=.)/g, `$1${eol}`)
  return `-----BEGIN CERTIFICATE-----${eol}${lines}${eol}-----END CERTIFICATE-----${eol}`
}

describe('parsePem', () => {
  it.each([
    ['one', block(LEAF), 1],
    ['two, leaf first, with text between (RFC 7468 §5.2)', `Leaf\n${block(LEAF)}\nIssuer\n${block(LEAF)}`, 2],
    ['CRLF', block(LEAF, '\r\n'), 1],
    ['the most', block(LEAF).repeat(CHAIN_MAX_CERTIFICATES), CHAIN_MAX_CERTIFICATES],
  ])('reads %s', (_, pem, count) => {
    expect(parsePem(pem)).toEqual(Array(count).fill(LEAF))
  })

  it.each([
    ['nothing', ''],
    ['a private key only', block(LEAF).replaceAll('CERTIFICATE', 'PRIVATE KEY')],
    ['too many', block(LEAF).repeat(CHAIN_MAX_CERTIFICATES + 1)],
    ['an empty block', block(new Uint8Array())],
    ['no SEQUENCE', block(Uint8Array.of(0x31, 1))],
    ['bad base64', '-----BEGIN CERTIFICATE-----\nMII=A\n-----END CERTIFICATE-----'],
    ['an unfinished block', block(LEAF).slice(0, -20)],
  ])('refuses %s', (_, pem) => {
    expect(() => parsePem(pem)).toThrow(expect.objectContaining({ code: 'unexpected_answer' }))
  })
})

describe('fetchCertificateChain', () => {
  let relay: FakeRelay
  beforeEach(async () => {
    relay = await startFakeRelay({})
  })
  afterEach(() => relay.close())

  it('gets /sdk/certificate-chain, which has no envelope (protocol §10.1.1)', async () => {
    relay.replies['/sdk/certificate-chain'] = ({ headers }, response) => {
      response.statusCode = headers['x-svc-access-token'] === 'token' ? 200 : 403
      response.end(block(LEAF))
    }
    expect(await fetchCertificateChain(relay.client, 'token')).toEqual([LEAF])
  })

  it('maps a failure, which has one', async () => {
    relay.replies['/sdk/certificate-chain'] = failure(503, 'feature_unavailable')
    await expect(fetchCertificateChain(relay.client, 'token')).rejects.toMatchObject({
      code: 'feature_unavailable',
    })
  })
})
