// Paths of clients' certificates (RFC 5280 §6): which are valid, and the alert for each that is not.

import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type CertificateOptions, PURPOSE, TestAuthority, USAGE } from '../../../tools/tls/test-authority.ts'
import type { TlsError } from '../../src/index.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { type PathOptions, validPath } from '../../src/x509/path.ts'

const HOUR_MS = 3_600_000
const past = new Date(Date.now() - HOUR_MS)
const future = new Date(Date.now() + HOUR_MS)
const root = TestAuthority.root()

/** Resolves with `valid` or the alert's name. */
async function verdict(
  presented: readonly { der: Uint8Array }[],
  anchors: readonly { der: Uint8Array }[] = [root],
  options: Partial<PathOptions> = {},
): Promise<string> {
  try {
    const [leaf, ...others] = presented.map(({ der }) => readCertificate(der))
    await validPath([leaf!, ...others], {
      anchors: anchors.map(({ der }) => readCertificate(der)),
      revocationLists: undefined,
      now: Date.now(),
      ...options,
    })
    return 'valid'
  } catch (error) {
    return (error as TlsError).code
  }
}

describe('a certificate directly below a root', () => {
  const client = (options: CertificateOptions) => verdict([root.client(options)])

  test.each<[string, CertificateOptions, string]>([
    ['with everything', {}, 'valid'],
    ['§4.2.1.3 without key usages', { keyUsage: undefined }, 'valid'],
    ['§4.2.1.3 for key encipherment alone', { keyUsage: USAGE.keyEncipherment }, 'unsupported_certificate'],
    ['§4.2.1.12 without extended key usages', { purposes: undefined }, 'valid'],
    ['§4.2.1.12 for servers alone', { purposes: [PURPOSE.serverAuth] }, 'unsupported_certificate'],
    ['§4.2.1.12 for both', { purposes: [PURPOSE.serverAuth, PURPOSE.clientAuth] }, 'valid'],
    ['§4.2.1.12 for any purpose', { purposes: [PURPOSE.any] }, 'unsupported_certificate'],
    ['§4.1.2.5 expired', { notBefore: new Date(0), notAfter: past }, 'certificate_expired'],
    ['§4.1.2.5 not valid yet', { notBefore: future, notAfter: future }, 'certificate_expired'],
    ['§4.1.2.5 until 2060', { notAfter: new Date('2060-01-01') }, 'valid'],
    ['with a forged signature', { isForged: true }, 'bad_certificate'],
    ['signed with SHA-1', { signature: 'sha1' }, 'bad_certificate'],
    ['§4.2 with an unknown extension', { more: [['2a030405', false, Uint8Array.of(5, 0)]] }, 'valid'],
    [
      '§4.2 with an unknown critical extension',
      { more: [['2a030405', true, Uint8Array.of(5, 0)]] },
      'unsupported_certificate',
    ],
    [
      '§4.2.1.10 with name constraints',
      { more: [['551d1e', false, Uint8Array.of(0x30, 0)]] },
      'unsupported_certificate',
    ],
    [
      '§4.2 with an extension twice',
      { more: [['551d0e', false, Uint8Array.of(4, 1, 1)]] },
      'bad_certificate',
    ],
  ])('%s', async (_, options, expected) => {
    expect(await client(options)).toBe(expected)
  })
})

describe('signatures', () => {
  test.each<[CertificateOptions['key'], CertificateOptions['signature'], string]>([
    ['P-256', 'sha256', 'valid'],
    ['P-256', 'sha512', 'valid'],
    ['P-384', 'sha384', 'valid'],
    ['P-384', 'sha256', 'valid'],
    ['Ed25519', undefined, 'valid'],
    ['RSA-2048', 'sha256', 'valid'],
    ['RSA-2048', 'sha512', 'valid'],
    ['RSA-2048', 'pss-sha256', 'valid'],
    ['RSA-2048', 'pss-sha384', 'valid'],
    ['P-521', 'sha512', 'bad_certificate'],
    ['RSA-1024', 'sha256', 'bad_certificate'],
  ])('of a CA with %s and %s', async (key, signature, expected) => {
    const ca = TestAuthority.root({ key: key!, ...(signature && { signature }) })
    expect(await verdict([ca.client(signature && { signature })], [ca])).toBe(expected)
  })
})

describe('CAs in between', () => {
  const middle = root.intermediate()

  test('is found, whatever the order', async () => {
    const lower = middle.intermediate({ name: 'Lower' })
    const alice = lower.client()
    expect(await verdict([alice, lower, middle])).toBe('valid')
    expect(await verdict([alice, root, middle, TestAuthority.root(), lower])).toBe('valid')
    expect(await verdict([alice, middle])).toBe('unknown_ca')
  })

  test('one of them is trusted, and the root is not', async () => {
    expect(await verdict([middle.client()], [middle])).toBe('valid')
    expect(await verdict([root.client()], [middle])).toBe('unknown_ca')
  })

  test('both are trusted', async () => {
    expect(await verdict([middle.client()], [middle, root])).toBe('valid')
  })

  test.each<[string, CertificateOptions, string]>([
    ['§4.2.1.9 it is no CA', { ca: false }, 'unknown_ca'],
    ['§4.2.1.3 its key is not for certificates', { keyUsage: USAGE.crlSign }, 'unknown_ca'],
    ['§4.2.1.3 without key usages', { keyUsage: undefined }, 'valid'],
    ['it has expired', { notBefore: new Date(0), notAfter: past }, 'certificate_expired'],
    ['§4.2.1.12 it is for servers', { purposes: [PURPOSE.serverAuth] }, 'unsupported_certificate'],
    ['§4.2.1.12 it is for clients', { purposes: [PURPOSE.clientAuth] }, 'valid'],
    ['it is forged', { isForged: true }, 'bad_certificate'],
    [
      'an unknown critical extension',
      { more: [['2a03', true, Uint8Array.of(5, 0)]] },
      'unsupported_certificate',
    ],
    ['§4.2.1.9 it allows no CA below it', { ca: 0 }, 'valid'],
  ])('%s', async (_, options, expected) => {
    const ca = root.intermediate(options)
    expect(await verdict([ca.client(), ca])).toBe(expected)
  })

  test('§4.2.1.9 a path length', async () => {
    const strict = TestAuthority.root({ ca: 1 })
    const first = strict.intermediate()
    const second = first.intermediate({ name: 'Second' })
    expect(await verdict([first.client(), first], [strict])).toBe('valid')
    expect(await verdict([second.client(), second, first], [strict])).toBe('unknown_ca')
  })

  test('of two with one name and one key, the valid one is taken', async () => {
    const keys = generateKeyPairSync('ed25519')
    const old = root.intermediate({ keys, notBefore: new Date(0), notAfter: past })
    const current = root.intermediate({ keys })
    expect(await verdict([old.client(), old, current])).toBe('valid')
  })

  test('of two with one name, the one that signed is taken', async () => {
    const [one, other] = [
      root.intermediate({ withoutKeyIds: true }),
      root.intermediate({ withoutKeyIds: true }),
    ]
    expect(await verdict([other.client({ withoutKeyIds: true }), one, other])).toBe('valid')
    expect(await verdict([other.client({ withoutKeyIds: true }), one])).toBe('bad_certificate')
  })

  test('a path that goes in circles, or is too long', async () => {
    const a = TestAuthority.root({ name: 'A' })
    const b = new TestAuthority({ name: 'B', ca: true }, a)
    const again = new TestAuthority(
      { name: 'A', ca: true, keys: { privateKey: a.key, publicKey: createPublicKey(a.key) } },
      b,
    )
    expect(await verdict([b.client(), b, again])).toBe('unknown_ca')
    const chain = [root]
    for (let i = 0; i < 8; i++) chain.unshift(chain[0]!.intermediate({ name: `CA ${i}` }))
    expect(await verdict([chain[0]!.client(), ...chain])).toBe('unknown_ca')
    expect(await verdict([chain[2]!.client(), ...chain.slice(2)])).toBe('valid')
  })
})

describe('another root', () => {
  test('with another name', async () => {
    expect(await verdict([TestAuthority.root({ name: 'Other' }).client()])).toBe('unknown_ca')
  })

  test('with the same name', async () => {
    const other = TestAuthority.root({ withoutKeyIds: true })
    expect(await verdict([other.client({ withoutKeyIds: true }), other])).toBe('bad_certificate')
  })

  test('a certificate that signed itself', async () => {
    expect(await verdict([TestAuthority.root({ name: 'Alice', keyUsage: USAGE.digitalSignature })])).toBe(
      'unknown_ca',
    )
  })

  test('the root itself has expired', async () => {
    const old = TestAuthority.root({ notBefore: new Date(0), notAfter: past })
    expect(await verdict([old.client()], [old])).toBe('certificate_expired')
  })
})
