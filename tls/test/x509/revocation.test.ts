// Revocation lists (RFC 5280 §5, §6.3): which refuse a certificate, and which are refused themselves.

import { describe, expect, test } from 'vitest'
import { TestAuthority, USAGE } from '../../../tools/tls/test-authority.ts'
import { readPem } from '../../src/client-auth/pem.ts'
import { TlsError } from '../../src/index.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { validPath } from '../../src/x509/path.ts'
import { readRevocationList } from '../../src/x509/revocation-list.ts'

const past = new Date(Date.now() - 3_600_000)
const root = TestAuthority.root()
const middle = root.intermediate()
const alice = middle.client()
const bob = middle.client({ name: 'Bob' })
const listOfRoot = root.revocationList([])

/** Resolves with `valid` or the alert's name, for a client that presents its certificate and the CA's. */
async function verdict(
  leaf: TestAuthority,
  lists: string,
  anchors: TestAuthority[] = [root],
  by = middle,
): Promise<string> {
  try {
    await validPath([readCertificate(leaf.der), readCertificate(by.der)], {
      anchors: anchors.map(({ der }) => readCertificate(der)),
      revocationLists: readPem(lists, 'X509 CRL').map(readRevocationList),
      now: Date.now(),
    })
    return 'valid'
  } catch (error) {
    return (error as TlsError).code
  }
}

test('§5.1.2.6 a revoked certificate', async () => {
  const lists = listOfRoot + middle.revocationList([bob])
  expect(await verdict(alice, lists)).toBe('valid')
  expect(await verdict(bob, lists)).toBe('certificate_revoked')
})

test('a revoked CA', async () => {
  const lists = root.revocationList([middle]) + middle.revocationList([])
  expect(await verdict(alice, lists)).toBe('certificate_revoked')
})

test('a list is needed of each issuer', async () => {
  expect(await verdict(alice, middle.revocationList([]))).toBe('certificate_unknown')
  expect(await verdict(alice, listOfRoot)).toBe('certificate_unknown')
  // The issuer of a trusted certificate that is no root is not known.
  expect(await verdict(alice, listOfRoot + middle.revocationList([]), [middle])).toBe('certificate_unknown')
  const lists = listOfRoot + middle.revocationList([])
  expect(await verdict(alice, lists, [middle, root])).toBe('certificate_unknown')
})

test('§5.1.2.5 a list that is too old still revokes, and does not clear', async () => {
  const old = { thisUpdate: new Date(0), nextUpdate: past }
  expect(await verdict(alice, listOfRoot + middle.revocationList([bob], old))).toBe('certificate_unknown')
  expect(await verdict(bob, listOfRoot + middle.revocationList([bob], old))).toBe('certificate_revoked')
  const both = middle.revocationList([bob], old) + middle.revocationList([])
  expect(await verdict(alice, listOfRoot + both)).toBe('valid')
})

test('a list that another key signed counts as missing', async () => {
  const impostor = TestAuthority.root({ name: 'Intermediate' })
  expect(await verdict(alice, listOfRoot + impostor.revocationList([]))).toBe('certificate_unknown')
  expect(
    await verdict(alice, listOfRoot + impostor.revocationList([alice]) + middle.revocationList([])),
  ).toBe('valid')
  expect(await verdict(alice, listOfRoot + middle.revocationList([], { isForged: true }))).toBe(
    'certificate_unknown',
  )
})

test('§4.2.1.3 the issuer must be allowed to sign lists', async () => {
  const other = root.intermediate({ keyUsage: USAGE.keyCertSign })
  const lists = listOfRoot + other.revocationList([])
  expect(await verdict(other.client(), lists, [root], other)).toBe('certificate_unknown')
})

test('many entries', async () => {
  const many = Array.from({ length: 5_000 }, (_, i) => ({
    ...bob,
    serialNumber: Uint8Array.of(1, i >> 8, i & 0xff),
  }))
  expect(await verdict(alice, listOfRoot + middle.revocationList(many))).toBe('valid')
  expect(await verdict(bob, listOfRoot + middle.revocationList([...many, bob]))).toBe('certificate_revoked')
})

describe('is refused as a list', () => {
  const critical: [string, boolean, Uint8Array] = ['551d1c', true, Uint8Array.of(0x30, 0)]
  test.each([
    ['§5.2.5 with an issuing distribution point', middle.revocationList([], { more: [critical] })],
    ['§5.2.4 of changes', middle.revocationList([], { more: [['551d1b', true, Uint8Array.of(2, 1, 1)]] })],
    [
      '§5.3.3 with entries of other issuers',
      middle.revocationList([bob], { ofEntries: [['551d1d', true, Uint8Array.of(0x30, 0)]] }),
    ],
    ['signed with SHA-1', middle.revocationList([], { signature: 'sha1' })],
    ['a certificate', alice.pem.replaceAll('CERTIFICATE', 'X509 CRL')],
  ])('%s', (_, pem) => {
    const [der] = readPem(pem, 'X509 CRL')
    expect(() => readRevocationList(der!)).toThrow(TlsError)
  })
})
