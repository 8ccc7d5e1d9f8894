// Client certificates in TLS that OpenSSL ends: which visitors come in, and as whom.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { EndTlsOptions, SiteKey, TlsConnection } from '@svc/sdk-core'
import { afterEach, describe, expect, test } from 'vitest'
import { siteWithClientCertificates } from '../../../sdk-core/src/client-certificates/index.ts'
import type { ClientCertificateOptions } from '../../../sdk-core/src/client-certificates/options.ts'
import type { SiteOptions } from '../../../sdk-core/src/site/options.ts'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { MemoryStream } from '../../../sdk-core/test/support/memory-stream.ts'
import { TEST_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { type CertificateOptions, PURPOSE, TestAuthority } from '../../../tools/tls/test-authority.ts'
import { StreamDuplex } from '../../src/net/stream-duplex.ts'
import { verifiesCertificates } from '../../src/tls/client-certificates.ts'
import { nativeTls } from '../../src/tls/native-tls.ts'

const key = { privateKey: createPrivateKey(PRIVATE_KEY_PEM) } as unknown as SiteKey
const root = TestAuthority.root()
const middle = root.intermediate()
const revoked = middle.client({ name: 'Mallory' })
const crl = root.revocationList([]) + middle.revocationList([revoked])
const past = new Date(Date.now() - 3_600_000)

let visitors: TLSSocket[] = []
afterEach(() => {
  for (const visitor of visitors) visitor.destroy()
  visitors = []
})

async function optionsOf(
  given: Partial<ClientCertificateOptions> = {},
  version = 'TLSv1.3',
): Promise<EndTlsOptions> {
  const { tls } = await siteWithClientCertificates({ tls: {} } as SiteOptions, { ca: root.pem, ...given })
  const { clientCertificates } = tls
  return {
    chain: [new Uint8Array(new X509Certificate(CERTIFICATE_PEM).raw)],
    key,
    alpn: ['http/1.1'],
    minVersion: version as 'TLSv1.3',
    handshakeTimeoutMs: TEST_TIMEOUT_MS,
    clientCertificates,
  }
}

interface Met {
  visitor: TLSSocket
  site: TlsConnection
  endTls: ReturnType<typeof nativeTls>
}

function meet(options: EndTlsOptions, client: ConnectionOptions = {}, endTls = nativeTls()): Met {
  const [theirs, ours] = MemoryStream.pair()
  const visitor = connect({
    socket: new StreamDuplex(theirs),
    servername: 'relay.localhost',
    ca: CERTIFICATE_PEM,
    maxVersion: options.minVersion,
    ...client,
  })
  visitors.push(visitor)
  visitor.on('error', () => {})
  return { visitor, site: endTls(ours, options)!, endTls }
}

const withCertificate = (client: TestAuthority, ...chain: TestAuthority[]): ConnectionOptions => ({
  cert: [client, ...chain].map(({ pem }) => pem).join(''),
  key: client.keyPem,
})

test('this Node has what is needed', () => {
  expect(verifiesCertificates()).toBe(true)
})

describe.each(['TLSv1.3', 'TLSv1.2'])('%s', (version) => {
  test.each<[string, CertificateOptions['key']]>([
    ['ECDSA', 'P-256'],
    ['RSA', 'RSA-2048'],
    ['Ed25519', 'Ed25519'],
  ])('a visitor with %s', async (_, type) => {
    const alice = root.client({ key: type! })
    const { site } = meet(await optionsOf({}, version), withCertificate(alice))
    const { clientCertificate } = await site.secure
    expect(clientCertificate).toMatchObject({
      subject: 'CN=Alice',
      issuer: 'CN=Test CA',
      fingerprint256: new X509Certificate(alice.pem).fingerprint256,
      serialNumber: new X509Certificate(alice.pem).serialNumber,
      der: alice.der,
    })
  })

  test('below an intermediate CA, with lists of both', async () => {
    const { site } = meet(await optionsOf({ crl }, version), withCertificate(middle.client(), middle))
    expect((await site.secure).clientCertificate).toMatchObject({ issuer: 'CN=Intermediate' })
  })

  test('an intermediate CA is trusted, and its root is not', async () => {
    const { site } = meet(
      await optionsOf({ ca: middle.pem }, version),
      withCertificate(middle.client(), middle),
    )
    expect((await site.secure).clientCertificate).toBeDefined()
    const other = meet(await optionsOf({ ca: middle.pem }, version), withCertificate(root.client()))
    await expect(other.site.secure).rejects.toThrow()
  })

  test('none, where none is needed', async () => {
    const { site } = meet(await optionsOf({ required: false }, version))
    expect(await site.secure).toEqual({ alpn: undefined, clientCertificate: undefined })
  })

  test.each<[string, () => ConnectionOptions, string, Partial<ClientCertificateOptions>]>([
    ['none', () => ({}), 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', {}],
    [
      'expired',
      () => withCertificate(root.client({ notBefore: new Date(0), notAfter: past })),
      'CERT_HAS_EXPIRED',
      {},
    ],
    [
      'of another CA',
      () => withCertificate(TestAuthority.root({ name: 'Other' }).client()),
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      {},
    ],
    ['without its CA', () => withCertificate(middle.client()), 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', {}],
    [
      'for servers',
      () => withCertificate(root.client({ purposes: [PURPOSE.serverAuth] })),
      'INVALID_PURPOSE',
      {},
    ],
    ['revoked', () => withCertificate(revoked, middle), 'CERT_REVOKED', { crl }],
    [
      'with a list missing',
      () => withCertificate(middle.client(), middle),
      'UNABLE_TO_GET_CRL',
      { crl: root.revocationList([]) },
    ],
    [
      'not valid, where none is needed',
      () => withCertificate(TestAuthority.root({ name: 'Other' }).client()),
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      { required: false },
    ],
  ])('a certificate: %s', async (_, client, code, given) => {
    const { site } = meet(await optionsOf(given, version), client())
    await expect(site.secure).rejects.toMatchObject({ code })
    await expect(site.read()).rejects.toThrow()
  })

  test('a session is not resumed, so that each connection is verified', async () => {
    const options = await optionsOf({}, version)
    const client = withCertificate(root.client())
    const first = meet(options, client)
    const sessions: Buffer[] = []
    first.visitor.on('session', (session) => sessions.push(session))
    await first.site.secure
    await first.site.write(new Uint8Array(1))
    await once(first.visitor, 'data')
    const session = sessions.at(-1) ?? first.visitor.getSession()
    const second = meet(options, { ...client, session }, first.endTls)
    await second.site.secure
    expect(second.visitor.isSessionReused()).toBe(false)
  })
})

test('nothing of a visitor who is refused is read', async () => {
  const { visitor, site } = meet(
    await optionsOf(),
    withCertificate(TestAuthority.root({ name: 'Other' }).client()),
  )
  visitor.write('GET / HTTP/1.1\r\n\r\n')
  await expect(site.secure).rejects.toThrow()
  await expect(site.read()).rejects.toThrow()
})
