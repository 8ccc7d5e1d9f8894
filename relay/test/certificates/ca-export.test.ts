// The development CA in every form that a system imports, as OpenSSL and a second library read it.

import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import forge from 'node-forge'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommandLine } from '../../src/cli/command-line.ts'
import {
  CA_FORMATS,
  type CaFormat,
  exportCa,
  PKCS12_PASSWORD,
} from '../../src/core/certificates/ca-export.ts'
import { certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { svcRelay } from '../support/svc-relay.ts'

const HOST = 'relay.localhost'
const { asn1, pki } = forge
const authority = createCa(HOST)
const leaf = createLeaf(authority, HOST)
const raw = new X509Certificate(authority.certificate).raw

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-authority-'))
  await writeFile(join(directory, 'ca.pem'), authority.certificate)
})
afterAll(() => rm(directory, { recursive: true }))

const openssl = (args: string[], input: Uint8Array): string =>
  execFileSync('openssl', args, { input, stdio: 'pipe' }).toString()

describe('svc-relay ca', () => {
  test.each<[string, (file: Buffer) => string]>([
    ['pem', (file) => openssl(['x509', '-inform', 'PEM', '-outform', 'PEM'], file)],
    ['der', (file) => openssl(['x509', '-inform', 'DER', '-outform', 'PEM'], file)],
    ['p12', (file) => openssl(['pkcs12', '-nokeys', '-passin', `pass:${PKCS12_PASSWORD}`], file)],
    [
      'mobileconfig',
      (file) => {
        const [, data] = /<data>([^<]+)<\/data>/.exec(file.toString())!
        return openssl(['x509', '-inform', 'DER', '-outform', 'PEM'], Buffer.from(data!, 'base64'))
      },
    ],
  ])('--format %s is the same certificate', async (format, read) => {
    const command = readCommandLine(['ca', '--format', format])
    expect(command).toEqual({ name: 'ca', format })
    const file = Buffer.from(await exportCa(authority.certificate, (command as { format: CaFormat }).format))
    expect(new X509Certificate(read(file)).raw.equals(raw)).toBe(true)
  })

  test('without a format it is PEM, and printed as it is', async () => {
    expect(readCommandLine(['ca'])).toEqual({ name: 'ca', format: 'pem' })
    const printed = await svcRelay(['ca'], { IDENTITY_PATH: directory })
    expect(printed).toEqual({ code: 0, stdout: authority.certificate, stderr: '' })
  })

  test('a wrong format and a directory without a CA are one line', async () => {
    expect(readCommandLine(['ca', '--format', 'jks'])).toEqual({
      name: 'print',
      text: `--format must be one of ${CA_FORMATS.join(', ')}\nsvc-relay --help lists commands and settings.`,
      isError: true,
    })
    const missing = await svcRelay(['ca'], { IDENTITY_PATH: join(directory, 'nothing') })
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^svc-relay: .* does not exist: .*\n$/),
    })
  })

  test('a p12 file whose content was changed has a wrong MAC', async () => {
    const file = Buffer.from(await exportCa(authority.certificate, 'p12'))
    file[file.indexOf(raw) + 40]! ^= 1
    const { status, stderr } = spawnSync(
      'openssl',
      ['pkcs12', '-nokeys', '-passin', `pass:${PKCS12_PASSWORD}`],
      { input: file },
    )
    expect(status).not.toBe(0)
    expect(String(stderr)).toMatch(/mac verify/i)
  })
})

describe('read by node-forge', () => {
  /** Strict: DER and nothing behind it. */
  const parse = (pem: string): forge.asn1.Asn1 =>
    asn1.fromDer(forge.util.createBuffer(new X509Certificate(pem).raw.toString('binary')), true)
  const children = (node: forge.asn1.Asn1): forge.asn1.Asn1[] => node.value as forge.asn1.Asn1[]
  /** Identifier → whether it is critical, of each extension (RFC 5280 §4.1). */
  const extensionsOf = (pem: string): Record<string, boolean> => {
    const [tbs] = children(parse(pem))
    const list = children(children(children(tbs!).at(-1)!)[0]!)
    return Object.fromEntries(
      list.map((extension) => {
        const [identifier, second] = children(extension)
        return [asn1.derToOid(identifier!.value as string), second!.type === asn1.Type.BOOLEAN]
      }),
    )
  }

  test('the CA: basic constraints, key usage and name constraints are critical', () => {
    expect(extensionsOf(authority.certificate)).toEqual({
      '2.5.29.19': true,
      '2.5.29.15': true,
      '2.5.29.30': true,
      '2.5.29.14': false,
    })
  })

  test('a leaf: its usages, its names, and whose it is', () => {
    expect(extensionsOf(leaf.chain)).toEqual({
      '2.5.29.19': true,
      '2.5.29.15': true,
      '2.5.29.37': false,
      '2.5.29.17': false,
      '2.5.29.14': false,
      '2.5.29.35': false,
    })
  })
})

test('an RSA chain with an intermediate, as node-forge makes it, is taken', () => {
  const issue = (
    subject: string,
    issuer: { name: string; key: forge.pki.rsa.PrivateKey } | undefined,
    extensions: object[],
  ) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const key = pki.privateKeyFromPem(privateKey)
    const certificate = pki.createCertificate()
    certificate.publicKey = pki.publicKeyFromPem(publicKey)
    certificate.serialNumber = '01'
    certificate.validity.notAfter = new Date(Date.now() + 86_400_000)
    certificate.setSubject([{ name: 'commonName', value: subject }])
    certificate.setIssuer([{ name: 'commonName', value: issuer?.name ?? subject }])
    certificate.setExtensions(extensions)
    certificate.sign(issuer?.key ?? key, forge.md.sha256.create())
    return { name: subject, key, pem: pki.certificateToPem(certificate) }
  }
  const ca = [{ name: 'basicConstraints', cA: true, critical: true }]
  const root = issue('root', undefined, ca)
  const intermediate = issue('intermediate', root, ca)
  const altNames = [HOST, `*.${HOST}`].map((value) => ({ type: 2, value }))
  const end = issue('leaf', intermediate, [{ name: 'subjectAltName', altNames }])
  const chain = end.pem + intermediate.pem
  const { algorithm, chain: ders } = certificatesOf(HOST, chain, pki.privateKeyToPem(end.key))
  expect([algorithm, ders.length]).toEqual(['RSA_PSS_SHA256', 2])
})
