// The development CA and its leaf, judged by OpenSSL.

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Certificates } from '../../src/core/certificates/certificate-files.ts'
import { loadCertificates } from '../../src/core/certificates/certificate-source.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { createLog } from '../../src/core/log/log.ts'
import { readIfPresent } from '../../src/core/storage/state-file.ts'
import { readSettings } from '../../src/settings.ts'

const log = createLog('silent')

describe('loadCertificates', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-certificates-'))
  })
  afterEach(() => rm(directory, { recursive: true }))
  const load = async (url: string): Promise<Certificates> =>
    (await loadCertificates(readSettings({ SVC_URL: url, IDENTITY_PATH: directory }), log)).certificates
  const read = async (name: string) => (await readIfPresent(join(directory, name))) ?? ''
  const verify = (chain: string) =>
    execFileSync('openssl', ['verify', '-CAfile', join(directory, 'ca.pem'), chain], {
      stdio: 'pipe',
    }).toString()

  test('on localhost: a P-256 leaf for the host and its subdomains that OpenSSL verifies', async () => {
    const { algorithm, chainPem } = await load('https://relay.localhost:4433')
    expect(algorithm).toBe('ECDSA_SHA256')
    expect(verify(join(directory, 'fullchain.pem'))).toMatch(/: OK/)
    const leaf = new X509Certificate(chainPem)
    expect(leaf.checkHost('relay.localhost')).toBe('relay.localhost')
    expect(leaf.checkHost('demo.relay.localhost')).toBe('*.relay.localhost')
    for (const name of ['ca-key.pem', 'privatekey.pem'])
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
  })

  test('the chain has the CA behind the leaf, also in a directory of an earlier release', async () => {
    const first = await load('https://relay.localhost')
    const ca = await read('ca.pem')
    expect(first.chainPem.endsWith(ca)).toBe(true)
    expect(first.chain).toHaveLength(2)
    const leaf = first.chainPem.slice(0, -ca.length)
    await writeFile(join(directory, 'fullchain.pem'), leaf)
    expect((await load('https://relay.localhost')).chainPem).toBe(first.chainPem)
    // The reload of a relay reads the file.
    expect(await read('fullchain.pem')).toBe(first.chainPem)
  })

  test('a restart keeps CA and leaf, so that trust given once lasts', async () => {
    const first = await load('https://relay.localhost')
    const ca = await read('ca.pem')
    expect((await load('https://relay.localhost')).chainPem).toBe(first.chainPem)
    expect(await read('ca.pem')).toBe(ca)
  })

  test('another host gets another CA, since the old one may not speak for it', async () => {
    await load('https://relay.localhost')
    const ca = await read('ca.pem')
    await load('https://other.localhost')
    expect(await read('ca.pem')).not.toBe(ca)
    expect(verify(join(directory, 'fullchain.pem'))).toMatch(/: OK/)
  })

  test("on localhost: somebody else's certificate is never overwritten", async () => {
    await load('https://relay.localhost')
    const [certificate, key] = [join(directory, 'fullchain.pem'), join(directory, 'privatekey.pem')]
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=relay.localhost',
      '-keyout',
      key,
      '-out',
      certificate,
    ]
    execFileSync('openssl', made, { stdio: 'pipe' })
    const before = [await read('fullchain.pem'), await read('privatekey.pem')]
    await expect(load('https://relay.localhost')).rejects.toThrow('was not issued by ca.pem')
    expect([await read('fullchain.pem'), await read('privatekey.pem')]).toEqual(before)
  })

  test('the CA cannot vouch for any other name (RFC 5280 §4.2.1.10)', async () => {
    await load('https://relay.localhost')
    const authority = { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
    const foreign = join(directory, 'foreign.pem')
    await writeFile(foreign, createLeaf(authority, 'bank.example').chain)
    expect(() => verify(foreign)).toThrow(/permitted subtree violation/)
  })

  test('a public host needs certificate files, and says which', async () => {
    await expect(load('https://relay.example.com')).rejects.toThrow(
      /needs fullchain\.pem and privatekey\.pem/,
    )
  })

  test('certificate files of a public host must cover it and belong together', async () => {
    await load('https://relay.localhost')
    await expect(load('https://relay.example.com')).rejects.toThrow(/must cover relay\.example\.com/)
    const other = createLeaf(
      { certificate: await read('ca.pem'), key: await read('ca-key.pem') },
      'x.localhost',
    )
    await writeFile(join(directory, 'privatekey.pem'), other.key)
    await expect(load('https://relay.example.com')).rejects.toThrow(/not the key of/)
  })
})
