// Which certificate the QUIC process gets: never the key of all sites where there can be another one.

import { execFile } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, test as every, expect, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf, type Leaf } from '../../src/core/certificates/development-ca.ts'
import type { CertificateAuthority } from '../../src/core/certificates/development-names.ts'
import { QuicCertificates } from '../../src/core/certificates/quic-certificate.ts'
import type { Settings } from '../../src/core/config/settings.ts'
import { readSettings } from '../../src/settings.ts'
import { ROOT_HOST, startTestRelay } from '../support/relay.ts'
import { openTunnel } from '../support/tunnel.ts'

const test = wholeOnly(every, 'variant')

const HOST = 'relay.example'
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const [CHAIN, KEY] = ['quic-fullchain.pem', 'quic-privatekey.pem']

let directory: string
let settings: Settings
let authority: CertificateAuthority
let shared: Leaf
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-tunnel-certificate-'))
  settings = readSettings({ SVC_URL: `https://${HOST}`, IDENTITY_PATH: directory })
  authority = createCa(HOST)
  shared = createLeaf(authority, HOST)
})
afterEach(() => rm(directory, { recursive: true }))

const rotationOf = (leaf: Leaf, by?: CertificateAuthority) =>
  new CertificateRotation({
    ...certificatesOf(HOST, leaf.chain, leaf.key),
    ...(by && { authority: by }),
  })

async function put(leaf: Partial<Leaf>): Promise<void> {
  if (leaf.chain !== undefined) await writeFile(join(directory, CHAIN!), leaf.chain)
  if (leaf.key !== undefined) await writeFile(join(directory, KEY!), leaf.key, { mode: 0o600 })
}

describe('it is', () => {
  test('a new one of the development CA, with another key, for the relay’s host alone', async () => {
    const certificates = new QuicCertificates(settings, rotationOf(shared, authority))
    const [one, other] = [await certificates.current(), await certificates.current()]
    const leaf = new X509Certificate(one.chainPem)
    expect(leaf.subjectAltName).toBe(`DNS:${HOST}`)
    expect(leaf.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(leaf.checkPrivateKey(createPrivateKey(one.keyPem))).toBe(true)
    expect(leaf.checkPrivateKey(createPrivateKey(shared.key))).toBe(false)
    expect(one.isShared).toBe(false)
    expect(one.keyPem).not.toBe(other.keyPem)
  })

  test('the operator’s, where there is one', async () => {
    const own = createLeaf(authority, HOST, [HOST])
    await put(own)
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    expect(await certificates.current()).toEqual({
      chainPem: own.chain,
      keyPem: own.key,
      isShared: false,
    })
  })

  test('the one of all sites where there is no other, and it says so', async () => {
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    expect(await certificates.current()).toMatchObject({ chainPem: shared.chain, isShared: true })
    await put(shared)
    expect(await certificates.current()).toMatchObject({ isShared: true })
  })
})

describe('the operator’s is refused', () => {
  test.each<[string, (own: Leaf, other: Leaf) => Partial<Leaf>, RegExp]>([
    ['without a key', ({ chain }) => ({ chain }), /quic-privatekey.pem: is missing/],
    ['without a chain', ({ key }) => ({ key }), /quic-fullchain.pem: is missing/],
    ['that is no PEM', ({ key }) => ({ chain: 'x', key }), /quic-fullchain.pem: is not PEM/],
    ['whose key is no PEM', ({ chain }) => ({ chain, key: 'x' }), /quic-privatekey.pem: is not PEM/],
    ['with another key', ({ chain }, { key }) => ({ chain, key }), /quic-privatekey.pem: is not the key/],
  ])('%s', async (_name, choose, message) => {
    await put(choose(createLeaf(authority, HOST, [HOST]), shared))
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    await expect(certificates.current()).rejects.toThrow(message)
  })

  test.skipIf(process.platform === 'win32')('when its key is open to others', async () => {
    await put(createLeaf(authority, HOST, [HOST]))
    await chmod(join(directory, KEY!), 0o644)
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    await expect(certificates.current()).rejects.toThrow(/quic-privatekey\.pem: is open to others/)
  })

  test('for another host, and when it is out of date', async () => {
    await put(createLeaf(authority, HOST, ['other.example']))
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    await expect(certificates.current()).rejects.toThrow('quic-fullchain.pem: must cover relay.example')
    await put(createLeaf(authority, HOST, [HOST]))
    vi.setSystemTime(Date.now() + 400 * 86_400_000)
    await expect(certificates.current()).rejects.toThrow('quic-fullchain.pem: expired')
    vi.useRealTimers()
  })
})

describe('there is another one to listen with', () => {
  const replaced = vi.fn()
  beforeEach(() => void replaced.mockReset())

  test('when the relay’s changed, but not where the operator gave one', async () => {
    const rotation = rotationOf(shared)
    const certificates = new QuicCertificates(settings, rotation)
    certificates.onReplace(replaced)
    const rotate = async () => {
      const next = createLeaf(authority, HOST)
      rotation.replace(certificatesOf(HOST, next.chain, next.key))
    }
    await rotate()
    expect(replaced).toHaveBeenCalledTimes(1)
    await put(createLeaf(authority, HOST, [HOST]))
    await certificates.current()
    await rotate()
    expect(replaced).toHaveBeenCalledTimes(1)
  })

  test('when the files changed, and can be used', async () => {
    const certificates = new QuicCertificates(settings, rotationOf(shared))
    certificates.onReplace(replaced)
    await certificates.current()
    expect(await certificates.reload()).toBe(false)
    await put(createLeaf(authority, HOST, [HOST]))
    expect(await certificates.reload()).toBe(true)
    expect(await certificates.reload()).toBe(false)
    await put({ chain: 'x' })
    await expect(certificates.reload()).rejects.toThrow('is not PEM')
    expect(replaced).toHaveBeenCalledTimes(1)
  })

  test('but nobody reads files for a relay without UDP', async () => {
    await put({ chain: 'x' })
    expect(await new QuicCertificates(settings, rotationOf(shared)).reload()).toBe(false)
  })
})

test('a running relay takes up the operator’s', async () => {
  const first = await freeRange(1)
  const relay = await startTestRelay({ UDP_ENABLED: 'true', MIN_PORT: `${first}`, MAX_PORT: `${first}` })
  try {
    const lease = await relay.register('game', { udp_enabled: true })
    const before = await openTunnel(relay)
    await before.hello(lease.access_token)
    const another = createCa(ROOT_HOST)
    const own = createLeaf(another, ROOT_HOST, [ROOT_HOST])
    await writeFile(join(relay.directory, KEY!), own.key, { mode: 0o600 })
    await writeFile(join(relay.directory, CHAIN!), own.chain)
    expect(await before.closed).toMatchObject({ errorCode: 0 })
    const trusting = { ...relay, ca: another.certificate }
    const after = await vi.waitFor(() => openTunnel(trusting), { interval: 50 })
    expect(await after.hello(lease.access_token)).toMatchObject({ ok: true })
    await expect(openTunnel(relay)).rejects.toThrow()
    await after.close()
  } finally {
    await relay.close()
  }
})

test('a client that trusts what the relay shows over TCP, and nothing else, gets a datagram tunnel', async () => {
  const min = await freeRange(2)
  const ports = { UDP_ENABLED: 'true', MIN_PORT: `${min}`, MAX_PORT: `${min + 1}` }
  const relay = await startTestRelay(ports)
  try {
    const { udp_addr, access_token } = await relay.register('udp', { udp_enabled: true })
    expect(udp_addr).toBeDefined()
    const told = await relay.call('GET', '/sdk/certificate-chain')
    const args = ['s_client', '-connect', `127.0.0.1:${relay.port}`, '-servername', ROOT_HOST, '-showcerts']
    const shown = (await promisify(execFile)('openssl', args)).stdout.match(PEM)!.join('\n')
    for (const ca of [shown, told.text]) {
      expect(ca.match(PEM)).toHaveLength(2)
      const tunnel = await openTunnel({ ...relay, ca })
      expect(await tunnel.hello(access_token)).toMatchObject({ ok: true })
      await tunnel.close()
    }
  } finally {
    await relay.close()
  }
})
