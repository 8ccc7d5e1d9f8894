// Client authentication with a client that breaks one rule at a time (RFC 8446 §4.3.2, §4.4; RFC 5246 §7.4.4 to §7.4.8).

import { sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { TestAuthority } from '../../../tools/tls/test-authority.ts'
import { clientAuthentication } from '../../src/client-auth/client-auth.ts'
import { verifyContent } from '../../src/client-auth/messages.ts'
import { type ServerConfig, TicketSealer, TlsError } from '../../src/index.ts'
import { certificateVerifyContent } from '../../src/messages/certificate-verify-content.ts'
import { ALERT, type AlertName } from '../../src/messages/constants.ts'
import { concat, handshakeMessage, u16, vector } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { expectAlert } from '../support/expect-alert.ts'
import { RawClient, until } from '../support/raw-client.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import { RawClient12 } from '../support/tls12-raw-client.ts'

const root = TestAuthority.root()
const alice = root.client()
const { tls12 } = makeIdentity('ec')
const config = (required = true): ServerConfig => ({
  ...tls12,
  alpn: [],
  crypto: syncCrypto,
  clientCertificates: clientAuthentication({ ca: root.pem, required }),
})

const ECDSA = 0x0403
const certificateOf = (...chain: Uint8Array[]): Uint8Array =>
  handshakeMessage(11, vector(1), vector(3, ...chain.map((der) => concat(vector(3, der), vector(2)))))
const verifyOf = (scheme: number, signature: Uint8Array): Uint8Array =>
  handshakeMessage(15, u16(scheme), vector(2, signature))

/** The client's CertificateVerify, right unless a test says otherwise. */
function signedBy(
  client: RawClient,
  { key } = alice,
  signer: 'client' | 'server' = 'client',
  scheme = ECDSA,
): Uint8Array {
  const content = (signer === 'client' ? verifyContent : certificateVerifyContent)(client.transcriptHash())
  return verifyOf(scheme, new Uint8Array(sign('sha256', content, key)))
}

async function expectAlert13(client: RawClient, alert: AlertName): Promise<void> {
  await client.over()
  expect([client.alerts, client.error?.code, client.info]).toEqual([[ALERT[alert]], alert, undefined])
}

describe('TLS 1.3', () => {
  test('§4.3.2 a CertificateRequest comes behind EncryptedExtensions', async () => {
    const client = await RawClient.greet(config())
    expect(client.messages).toEqual([2, 8, 13, 11, 15, 20])
  })

  test('§4.4.2, §4.4.3 a certificate and its signature', async () => {
    const client = await RawClient.greet(config())
    client.sendMessage(certificateOf(alice.der))
    client.sendMessage(signedBy(client))
    client.sendFinished()
    await until(() => client.info !== undefined)
    expect(client.info!.clientCertificate).toMatchObject({
      subject: 'CN=Alice',
      issuer: 'CN=Test CA',
      der: alice.der,
    })
  })

  test('§4.4.2.4 none, where none is needed', async () => {
    const client = await RawClient.greet(config(false))
    client.sendMessage(certificateOf())
    client.sendFinished()
    await until(() => client.info !== undefined)
    expect(client.info).toMatchObject({ clientCertificate: undefined })
  })

  test('no certificate is asked for without the option', async () => {
    const client = await RawClient.greet({ ...tls12, alpn: [], crypto: syncCrypto })
    expect(client.messages).toEqual([2, 8, 11, 15, 20])
  })

  test('§4.6.1 there is no ticket: a resumed session would not be verified', async () => {
    const tickets = new TicketSealer({ crypto: syncCrypto })
    const client = await RawClient.greet({ ...config(false), tickets })
    client.sendMessage(certificateOf())
    client.sendFinished()
    await until(() => client.info !== undefined)
    await client.server.write(Uint8Array.of(1))
    expect(client.tickets).toEqual([])
  })

  test.each<[AlertName, string, (client: RawClient) => void]>([
    ['certificate_required', '§4.4.2.4 no certificate', (client) => client.sendMessage(certificateOf())],
    ['unexpected_message', '§4.4 a Finished at once', (client) => client.sendFinished()],
    [
      'unexpected_message',
      '§4.4.3 a certificate without a signature',
      (client) => {
        client.sendMessage(certificateOf(alice.der))
        client.sendFinished()
      },
    ],
    [
      'bad_certificate',
      'bytes that are no certificate',
      (client) => client.sendMessage(certificateOf(Uint8Array.of(48, 0))),
    ],
    [
      'bad_certificate',
      'too many certificates',
      (client) => client.sendMessage(certificateOf(...Array.from({ length: 11 }, () => alice.der))),
    ],
    [
      'illegal_parameter',
      '§4.4.2 another context',
      (client) => client.sendMessage(handshakeMessage(11, vector(1, Uint8Array.of(1)), vector(3))),
    ],
    [
      'unsupported_extension',
      '§4.4.2 an extension that was not asked for',
      (client) => {
        const entry = concat(vector(3, alice.der), vector(2, u16(5), vector(2)))
        client.sendMessage(handshakeMessage(11, vector(1), vector(3, entry)))
      },
    ],
    [
      'decode_error',
      'bytes behind the list',
      (client) => client.sendMessage(handshakeMessage(11, vector(1), vector(3), vector(1))),
    ],
  ])('%s: %s', async (alert, _, send) => {
    const client = await RawClient.greet(config())
    send(client)
    await expectAlert13(client, alert)
  })

  test('one that does not verify is refused also where none is needed', async () => {
    const client = await RawClient.greet(config(false))
    client.sendMessage(certificateOf(TestAuthority.root({ name: 'Other' }).client().der))
    await expectAlert13(client, 'unknown_ca')
  })

  describe('§4.4.3 CertificateVerify', () => {
    const bob = root.client({ name: 'Bob' })
    const rsa = root.client({ key: 'RSA-2048' })
    const p384 = root.client({ key: 'P-384' })

    test.each<[AlertName, string, { der: Uint8Array }, (client: RawClient) => Uint8Array]>([
      ['decrypt_error', 'with another key', alice, (client) => signedBy(client, bob)],
      ['decrypt_error', "with the server's context", alice, (client) => signedBy(client, alice, 'server')],
      ['decrypt_error', 'empty', alice, () => verifyOf(ECDSA, new Uint8Array())],
      ['decrypt_error', 'of zeros', alice, () => verifyOf(ECDSA, Uint8Array.of(0x30, 6, 2, 1, 0, 2, 1, 0))],
      [
        'decrypt_error',
        'of numbers that are too long',
        alice,
        () => verifyOf(ECDSA, Uint8Array.of(0x30, 0x45, 2, 0x40, ...new Uint8Array(64).fill(1), 2, 1, 1)),
      ],
      [
        'illegal_parameter',
        'with a scheme that was not offered',
        alice,
        (client) => signedBy(client, alice, 'client', 0x0203),
      ],
      ['illegal_parameter', 'with RSA of PKCS #1', rsa, (client) => signedBy(client, rsa, 'client', 0x0401)],
      ['illegal_parameter', 'with a scheme for another key', rsa, (client) => signedBy(client, alice)],
      ['illegal_parameter', 'with a scheme for another curve', p384, (client) => signedBy(client, p384)],
      ['decode_error', 'cut short', alice, () => handshakeMessage(15, u16(ECDSA))],
    ])('%s: %s', async (alert, _, { der }, verify) => {
      const client = await RawClient.greet(config())
      client.sendMessage(certificateOf(der))
      client.sendMessage(verify(client))
      await expectAlert13(client, alert)
    })

    test('of another connection', async () => {
      const other = await RawClient.greet(config())
      other.sendMessage(certificateOf(alice.der))
      const client = await RawClient.greet(config())
      client.sendMessage(certificateOf(alice.der))
      client.sendMessage(signedBy(other))
      await expectAlert13(client, 'decrypt_error')
    })
  })
})

describe('TLS 1.2', () => {
  const certificateOf12 = (...chain: Uint8Array[]): Uint8Array =>
    handshakeMessage(11, vector(3, ...chain.map((der) => vector(3, der))))

  test('§7.4.4 a CertificateRequest comes before ServerHelloDone', async () => {
    const client = await RawClient12.greet(config())
    expect(client.messages).toEqual([2, 11, 12, 13, 14])
  })

  test('§7.4.6 none, where none is needed', async () => {
    const client = await RawClient12.greet(config(false))
    client.sendMessage(certificateOf12())
    client.sendClientKeyExchange()
    client.sendChangeCipherSpec()
    client.sendFinished()
    await until(() => client.info !== undefined)
    expect(client.info).toMatchObject({ version: 'TLSv1.2', clientCertificate: undefined })
  })

  test.each<[AlertName, string, (client: RawClient12) => void]>([
    ['certificate_required', 'no certificate', (client) => client.sendMessage(certificateOf12())],
    ['unexpected_message', 'no Certificate message', (client) => client.sendClientKeyExchange()],
    [
      'unknown_ca',
      'another CA',
      (client) => client.sendMessage(certificateOf12(TestAuthority.root({ name: 'O' }).client().der)),
    ],
    [
      'decrypt_error',
      '§7.4.8 a signature of something else',
      (client) => {
        client.sendMessage(certificateOf12(alice.der))
        client.sendClientKeyExchange()
        client.sendMessage(verifyOf(ECDSA, new Uint8Array(sign('sha256', new Uint8Array(3), alice.key))))
      },
    ],
  ])('%s: %s', async (alert, _, send) => {
    const client = await RawClient12.greet(config())
    send(client)
    await expectAlert(client, ALERT[alert])
  })

  test('§7.4.8 a certificate without a signature', async () => {
    const client = await RawClient12.greet(config())
    client.sendMessage(certificateOf12(alice.der))
    client.sendClientKeyExchange()
    client.sendChangeCipherSpec()
    await client.over()
    expect(client.error).toMatchObject({ code: 'unexpected_message' })
  })
})

describe('options', () => {
  const other = root.client()
  test.each([
    ['ca: no PEM', { ca: 'ca.pem' }, /^ca: it has no PEM/],
    ['ca: a broken PEM', { ca: `${root.pem}-----BEGIN CERTIFICATE-----\nAA` }, /^ca: /],
    ['ca: a private key beside nothing', { ca: root.keyPem }, /^ca: /],
    [
      'ca: no certificate',
      { ca: '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----' },
      /^ca: it is not/,
    ],
    [
      'ca: not that of a CA',
      { ca: root.pem + other.pem },
      /^ca: one of its certificates is not that of a CA/,
    ],
    ['crl: no PEM', { ca: root.pem, crl: root.pem }, /^crl: it has no PEM/],
    [
      'crl: with a CA that is no root',
      { ca: root.intermediate().pem, crl: root.revocationList([]) },
      /^ca: with crl/,
    ],
  ])('%s', (_, options, message) => {
    const make = () => clientAuthentication({ required: true, ...options })
    expect(make).toThrow(TlsError)
    expect(make).toThrow(message)
  })
})
