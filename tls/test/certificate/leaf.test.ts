// The algorithm of a leaf's key and the names of its hosts, out of certificates that openssl made.

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { leafDetailsOf, signAlgorithmOf, subjectNamesOf } from '../../src/index.ts'

function certificate(...newKey: string[]): Uint8Array {
  const subject = ['-subj', '/CN=x', '-keyout', '/dev/null', '-nodes']
  const pem = execFileSync('openssl', ['req', '-x509', ...newKey, ...subject], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Uint8Array(new X509Certificate(pem).raw)
}

describe('signAlgorithmOf', () => {
  test.each([
    ['ECDSA_SHA256', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']],
    ['RSA_PSS_SHA256', ['-newkey', 'rsa:2048']],
    ['Ed25519', ['-newkey', 'ed25519']],
  ])('%s', (algorithm, newKey) => {
    expect(signAlgorithmOf(certificate(...newKey))).toBe(algorithm)
  })

  test.each([
    ['P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1']],
    ['RSASSA-PSS', ['-newkey', 'rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['Ed448', ['-newkey', 'ed448']],
  ])('refuses %s', (_, newKey) => {
    expect(() => signAlgorithmOf(certificate(...newKey))).toThrow(
      expect.objectContaining({ code: 'unsupported_certificate' }),
    )
  })

  test('refuses what is no certificate, wherever it ends', () => {
    const der = certificate('-newkey', 'ed25519')
    const key = der.findIndex((_, i) => der.subarray(i, i + 5).join() === '6,3,43,101,112')
    const spki = der.findLastIndex((_, i) => i > key && der.subarray(i, i + 5).join() === '6,3,43,101,112')
    expect(spki).toBeGreaterThan(key)
    for (const cut of [0, 1, 2, 5, 20, key])
      expect(() => signAlgorithmOf(der.subarray(0, cut))).toThrow(
        expect.objectContaining({ code: 'unsupported_certificate' }),
      )
    expect(() => signAlgorithmOf(new Uint8Array(100).fill(0x30))).toThrow()
  })
})

describe('subjectNamesOf', () => {
  const named = (names: string): Uint8Array =>
    certificate('-newkey', 'ed25519', '-addext', `subjectAltName=${names}`)

  test.each([
    ['one host', 'DNS:a.example', ['a.example']],
    ['several, with a wildcard', 'DNS:a.example,DNS:*.a.example', ['a.example', '*.a.example']],
    ['critical', 'critical,DNS:a.example', ['a.example']],
    [
      'what is not a host, without its value',
      'IP:192.0.2.1,DNS:a.example,email:a@b.example',
      ['', 'a.example', ''],
    ],
  ])('%s', (_, names, expected) => {
    expect(subjectNamesOf(named(names))).toEqual(expected)
  })

  test('none', () => {
    expect(subjectNamesOf(certificate('-newkey', 'ed25519'))).toEqual([])
  })

  test('refuses what is no certificate, wherever it ends', () => {
    const der = named('DNS:a.example')
    for (const cut of [0, 1, 4, 20, 100, der.length - 1])
      expect(() => subjectNamesOf(der.subarray(0, cut))).toThrow(
        expect.objectContaining({ code: 'unsupported_certificate' }),
      )
  })
})

describe('leafDetailsOf', () => {
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']

  test.each([
    ['two times as UTCTime', '30'],
    ['an end as GeneralizedTime', '36500'],
  ])('reads what OpenSSL reads: %s', (_, days) => {
    const der = certificate(...newKey, '-days', days)
    const theirs = new X509Certificate(der)
    expect(leafDetailsOf(der)).toMatchObject({
      notBefore: theirs.validFromDate.getTime(),
      notAfter: theirs.validToDate.getTime(),
      publicKey: new Uint8Array(theirs.publicKey.export({ type: 'spki', format: 'der' })),
    })
  })

  test('reads a UTCTime of the last century (RFC 5280 §4.1.2.5.1)', () => {
    const der = Buffer.from(certificate(...newKey))
    const time = der.indexOf(Buffer.of(0x17, 13)) + 2
    der.write('500101000000Z', time)
    expect(leafDetailsOf(der).notBefore).toBe(Date.UTC(1950, 0, 1))
    der.write('491231235959Z', time)
    expect(leafDetailsOf(der).notBefore).toBe(Date.UTC(2049, 11, 31, 23, 59, 59))
    der.write('4912312359+01', time)
    expect(() => leafDetailsOf(der)).toThrow(expect.objectContaining({ code: 'unsupported_certificate' }))
  })

  test('tells issuers apart by name and key', () => {
    const [one, other] = [certificate(...newKey), certificate(...newKey)].map(leafDetailsOf)
    expect(one!.issuer).toBe(other!.issuer)
    expect(one!.issuerKey).toMatch(/^[0-9a-f]{40}$/)
    expect(one!.issuerKey).not.toBe(other!.issuerKey)
    const without = certificate(...newKey, '-addext', 'authorityKeyIdentifier=none')
    expect(leafDetailsOf(without).issuerKey).toBeUndefined()
  })

  test('refuses what is no certificate, wherever it ends', () => {
    const der = certificate(...newKey)
    for (const cut of [0, 1, 4, 20, 100, der.length - 100])
      expect(() => leafDetailsOf(der.subarray(0, cut))).toThrow(
        expect.objectContaining({ code: 'unsupported_certificate' }),
      )
  })
})
