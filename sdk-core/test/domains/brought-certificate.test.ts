// Certificates that are brought for a domain: each kind of key and file that people have, and those that do not fit.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { expect, it } from 'vitest'
import { createCa, createLeafFor } from '../../../relay/src/core/certificates/development-ca.ts'
import { broughtCertificate } from '../../src/domains/brought-certificate.ts'

const DOMAIN = 'shop.example.org'
const authority = createCa('example.org')

function chainFor(key: KeyObject, names = [DOMAIN], days = 30): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return createLeafFor(authority, publicKey, names, days)
}
const bring = (chain: string, key: string): ReturnType<typeof broughtCertificate> =>
  broughtCertificate({ domain: DOMAIN, certificate: { chain, key } }, Date.now(), {})
const pem = (key: KeyObject, type: 'pkcs8' | 'sec1' | 'pkcs1'): string =>
  key.export({ type: type as 'pkcs8', format: 'pem' }).toString()

const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ed25519 = generateKeyPairSync('ed25519').privateKey

it.each<[string, KeyObject, 'pkcs8' | 'sec1' | 'pkcs1']>([
  ['ECDSA_SHA256', ec, 'pkcs8'],
  ['ECDSA_SHA256', ec, 'sec1'],
  ['RSA_PSS_SHA256', rsa, 'pkcs8'],
  ['RSA_PSS_SHA256', rsa, 'pkcs1'],
  ['Ed25519', ed25519, 'pkcs8'],
])('takes a key of %s', async (algorithm, key, type) => {
  const certificate = await bring(chainFor(key), pem(key, type))
  expect(certificate).toMatchObject({ algorithm, names: [DOMAIN] })
  expect((await certificate.own.key.sign(Uint8Array.of(1))).length).toBeGreaterThan(60)
})

it('takes a wildcard for one label', async () => {
  await expect(bring(chainFor(ec, ['*.example.org']), pem(ec, 'pkcs8'))).resolves.toBeTruthy()
})

it('says what does not fit', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey
  const locked = createPrivateKey(pem(ec, 'pkcs8')).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  })
  const cases: [() => Promise<unknown>, RegExp][] = [
    [() => bring(chainFor(ec), pem(other, 'pkcs8')), /the key is that of another certificate/],
    [() => bring(chainFor(ec), pem(rsa, 'pkcs8')), /the key is not one of ECDSA/],
    [() => bring(chainFor(p384), pem(p384, 'pkcs8')), /not ECDSA P-256, RSA or Ed25519/],
    [() => bring(chainFor(ec), locked.toString()), /has a password/],
    [() => bring(chainFor(ec), 'key'), /the key is not PEM/],
    [() => bring('chain', pem(ec, 'pkcs8')), /the chain has 0 certificates/],
    [() => bring(chainFor(ec, ['other.example.org']), pem(ec, 'pkcs8')), /it names other.example.org/],
    [() => bring(chainFor(ec, ['*.shop.example.org']), pem(ec, 'pkcs8')), /it names \*\.shop/],
    [() => bring(chainFor(ec, [DOMAIN], -1), pem(ec, 'pkcs8')), /it ended at/],
  ]
  for (const [brought, message] of cases)
    await expect(brought()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(message),
    })
})
