// The certificate with which the relay ends TLS for a site: of its own below a development CA, else the wildcard's.

import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Certificates, certificatesOf } from '../../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { LEASE_CERTIFICATE_RENEWAL_MS } from '../../../src/core/certificates/lease-certificate.ts'
import {
  SERVER_CERTIFICATES_MAX,
  ServerCertificates,
} from '../../../src/core/certificates/server-certificate.ts'
import { ROOT_HOST } from '../../support/relay.ts'
import { type CachedSite, HOSTNAME, startCachedSite } from './cached-site.ts'

const authority = createCa(ROOT_HOST)

function certificates(names?: string[]): Certificates {
  const { chain, key } = createLeaf(authority, ROOT_HOST, names)
  return certificatesOf(ROOT_HOST, chain, key)
}

describe('with an authority', () => {
  const withAuthority = (): Certificates => ({ ...certificates(), authority })

  test('names the hostname alone, and has a key that is no other', () => {
    const shared = withAuthority()
    const chosen = new ServerCertificates(new CertificateRotation(shared))
    const [one, other] = [chosen.of(HOSTNAME), chosen.of(`other.${ROOT_HOST}`)]
    const leaf = new X509Certificate(one!.chain)
    expect(one!.isOwn).toBe(true)
    expect(leaf.subjectAltName).toBe(`DNS:${HOSTNAME}`)
    expect(leaf.checkIssued(new X509Certificate(authority.certificate))).toBe(true)
    expect(leaf.checkPrivateKey(shared.key)).toBe(false)
    expect(one!.key).not.toBe(other!.key)
    expect(chosen.of(HOSTNAME)).toBe(one)
  })

  test('is another one after a rotation', () => {
    const rotation = new CertificateRotation(withAuthority())
    const chosen = new ServerCertificates(rotation)
    const before = chosen.of(HOSTNAME)
    rotation.replace(withAuthority())
    expect(chosen.of(HOSTNAME)).not.toBe(before)
  })

  describe('as time passes', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    test('is renewed long before it ends, and when the clock was set back', () => {
      const chosen = new ServerCertificates(new CertificateRotation(withAuthority()))
      const first = chosen.of(HOSTNAME)
      vi.setSystemTime(Date.now() + LEASE_CERTIFICATE_RENEWAL_MS - 1)
      expect(chosen.of(HOSTNAME)).toBe(first)
      vi.setSystemTime(Date.now() + 1)
      const second = chosen.of(HOSTNAME)
      expect(second).not.toBe(first)
      vi.setSystemTime(Date.now() - 1)
      expect(chosen.of(HOSTNAME)).not.toBe(second)
    })
  })

  test('keeps those of so many hostnames, and forgets the one that was used longest ago', () => {
    const chosen = new ServerCertificates(new CertificateRotation(withAuthority()))
    const [first, second] = [chosen.of('a.relay.localhost'), chosen.of('b.relay.localhost')]
    for (let count = 2; count < SERVER_CERTIFICATES_MAX; count++) chosen.of(`${count}.relay.localhost`)
    expect(chosen.of('a.relay.localhost')).toBe(first)
    chosen.of('one-more.relay.localhost')
    expect(chosen.of('a.relay.localhost')).toBe(first)
    expect(chosen.of('b.relay.localhost')).not.toBe(second)
  })
})

describe('without an authority', () => {
  test('is the wildcard', () => {
    const shared = certificates()
    const chosen = new ServerCertificates(new CertificateRotation(shared))
    expect(chosen.isAvailable).toBe(true)
    expect(chosen.of(HOSTNAME)).toMatchObject({ chain: shared.chainPem, isOwn: false })
  })

  test('there is none while the relay has none of its own, or one for its root host alone', () => {
    const rotation = new CertificateRotation({ ...certificates(), chain: [] })
    const chosen = new ServerCertificates(rotation)
    expect([chosen.isAvailable, chosen.of(HOSTNAME)]).toEqual([false, undefined])
    rotation.replace(certificates([ROOT_HOST]))
    expect([chosen.isAvailable, chosen.of(HOSTNAME)]).toEqual([false, undefined])
    rotation.replace(certificates())
    expect(chosen.isAvailable).toBe(true)
  })
})

describe('in a handshake', () => {
  let site: CachedSite
  afterEach(() => site.close())

  async function start(hasAuthority: boolean): Promise<void> {
    site = await startCachedSite({ hasAuthority })
    await site.snapshots.put({ 'index.html': 'stored' })
  }

  test('of its own: HTTP/2, and TLS 1.2 as well', async () => {
    await start(true)
    const tls = await site.tls({ ALPNProtocols: ['h2', 'http/1.1'] })
    expect([tls.alpnProtocol, tls.getPeerCertificate().subjectaltname]).toEqual(['h2', `DNS:${HOSTNAME}`])
    tls.destroy()
    const old = await site.tls({ maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] })
    expect([old.getProtocol(), old.alpnProtocol]).toEqual(['TLSv1.2', 'http/1.1'])
    old.destroy()
  })

  test('with the key of all sites: HTTP/1.1 and TLS 1.3 alone (decisions 0010, 0016) (protocol §15.2.6)', async () => {
    await start(false)
    const tls = await site.tls({ ALPNProtocols: ['h2', 'http/1.1'] })
    expect([tls.alpnProtocol, tls.getProtocol()]).toEqual(['http/1.1', 'TLSv1.3'])
    tls.destroy()
    await expect(refusal({ maxVersion: 'TLSv1.2' })).resolves.toMatch(/protocol.version/i)
    await expect(refusal({ ALPNProtocols: ['h2'] })).resolves.toMatch(/no.application.protocol/i)
  })

  test('follows a rotation, and open connections stay', async () => {
    await start(true)
    const before = await site.tls()
    site.rotation.replace({ ...certificates(), authority })
    const after = await site.tls({ ca: authority.certificate })
    expect(after.getPeerX509Certificate()?.fingerprint256).not.toBe(
      before.getPeerX509Certificate()?.fingerprint256,
    )
    before.write(`GET / HTTP/1.1\r\nHost: ${HOSTNAME}\r\nConnection: close\r\n\r\n`)
    expect(`${await before.toArray()}`).toMatch(/^HTTP\/1.1 200 /)
    after.destroy()
  })

  async function refusal(options: object): Promise<string> {
    return await site.tls(options).then(
      () => 'accepted',
      (error: Error) => error.message,
    )
  }
})
