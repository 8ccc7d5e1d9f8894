// A lease's own certificate, and why: HTTP/2 (RFC 9113 §9.1.1) is signed for with no other.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { RegisterResponse } from '@svc/protocol'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import type { Certificates } from '../../src/core/certificates/certificate-files.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { isLeaseCertificate } from '../../src/core/certificates/lease-certificate.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import { newAccount, ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'

const account = newAccount()
let lease: RegisterResponse
let carrier: TestCarrier
let shared: X509Certificate
let own: X509Certificate

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  lease = await relay.register('own', { account })
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
  shared = await chain(relay)
  own = await chain(relay, lease.access_token)
})

async function chain({ call }: TestRelay, token?: string): Promise<X509Certificate> {
  const headers = token === undefined ? {} : { 'X-Svc-Access-Token': token }
  const answer = await call('GET', '/sdk/certificate-chain', undefined, headers)
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-pem-file' } })
  return new X509Certificate(answer.text)
}

/** EncryptedExtensions (RFC 8446 §4.3.1) that select a protocol (RFC 7301 §3.1). */
function encryptedExtensions(protocol: string): Buffer {
  const name = Buffer.from(protocol)
  const alpn = Buffer.concat([Buffer.of(0, 0x10, 0, name.length + 3, 0, name.length + 1, name.length), name])
  return Buffer.concat([Buffer.of(8, 0, 0, alpn.length + 2, 0, alpn.length), alpn])
}

const h2 = { encrypted_extensions: encryptedExtensions('h2') }

describe('GET /sdk/certificate-chain', () => {
  test('with a token: the hostnames of that lease and no others, with the key and the CA of the shared one', () => {
    expect(own.subjectAltName).toBe(`DNS:${lease.hostname}, DNS:${lease.canonical_hostname}`)
    expect(own.publicKey.equals(shared.publicKey)).toBe(true)
    expect(own.issuer).toBe(shared.issuer)
  })

  test('without: the one that all share', () => {
    expect(shared.subjectAltName).toBe('DNS:relay.localhost, DNS:*.relay.localhost')
  })

  test('the same again while it is good', async () => {
    expect((await chain(relay, lease.access_token)).fingerprint256).toBe(own.fingerprint256)
  })

  test('an invalid token', async () => {
    const headers = { 'X-Svc-Access-Token': 'none' }
    const answer = await relay.call('GET', '/sdk/certificate-chain', undefined, headers)
    expect(answer).toMatchObject({ status: 403, json: { ok: false, error: { code: 'unauthorized' } } })
  })
})

describe('/v1/sign', () => {
  const ask = async (certificate: X509Certificate, fields: object = {}) => {
    const session = await activate(relay, carrier, lease)
    const request = { ...genuine(session, [certificate.raw]), ...fields }
    return await sign(relay, lease.access_token, request)
  }

  test('signs HTTP/2 with the own certificate', async () => {
    expect(await ask(own, h2)).toMatchObject({ status: 200 })
  })

  test('does not with the one that names other hosts (protocol §10.2.2, §10.3.9)', async () => {
    const error = 'h2 needs a certificate that names hostnames of this lease only'
    expect(await ask(shared, h2)).toMatchObject({ status: 403, json: { error } })
  })

  test('signs HTTP/1.1 with either', async () => {
    const http1 = { encrypted_extensions: encryptedExtensions('http/1.1') }
    expect(await ask(own, http1)).toMatchObject({ status: 200 })
    expect(await ask(shared, http1)).toMatchObject({ status: 200 })
  })

  const refused = { status: 403, json: { error: "certificate does not carry this relay's chain" } }

  test("does not sign with another lease's", async () => {
    const other = await relay.register('other')
    expect(await ask(await chain(relay, other.access_token))).toMatchObject(refused)
  })

  test("does not sign with another relay's, though the names and the host are the same", async () => {
    const second = await startTestRelay()
    const there = await second.register('own', { account })
    expect(await ask(await chain(second, there.access_token))).toMatchObject(refused)
    await second.close()
  })

  test('does not sign for the own certificate and more, nor for what is no certificate', async () => {
    const session = await activate(relay, carrier, lease)
    const chains = [[own.raw, shared.raw], [Buffer.from('3000', 'hex')], []]
    for (const certificates of chains)
      expect(await sign(relay, lease.access_token, genuine(session, certificates))).toMatchObject({
        status: expect.toBeOneOf([400, 403]),
      })
  })
})

describe('isLeaseCertificate', () => {
  afterEach(() => void vi.useRealTimers())

  test('says the same when it is asked again, unless lease, key or time are others', async () => {
    const authority = createCa(ROOT_HOST)
    const leaf = createLeaf(authority, ROOT_HOST, [`one.${ROOT_HOST}`])
    const by = { authority, key: createPrivateKey(leaf.key) } as Certificates
    const renewed = { ...by, key: createPrivateKey(createLeaf(authority, ROOT_HOST).key) }
    const sent = [new X509Certificate(leaf.chain).raw]
    const one = { hostnames: [`one.${ROOT_HOST}`] } as Lease
    const two = { hostnames: [`two.${ROOT_HOST}`] } as Lease
    for (let time = 0; time < 2; time++) {
      expect(isLeaseCertificate(sent, one, by)).toBe(true)
      expect(isLeaseCertificate(sent, two, by)).toBe(false)
      expect(isLeaseCertificate(sent, one, renewed)).toBe(false)
    }
    vi.useFakeTimers({ now: Date.parse(new X509Certificate(leaf.chain).validTo) - 1, toFake: ['Date'] })
    expect(isLeaseCertificate(sent, one, by)).toBe(true)
    vi.setSystemTime(Date.now() + 1)
    expect(isLeaseCertificate(sent, one, by)).toBe(false)
  })
})
