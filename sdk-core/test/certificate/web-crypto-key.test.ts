// A key in WebCrypto signs as TLS and X.509 want it, whatever r and s are.

import { createPublicKey, verify } from 'node:crypto'
import { afterEach, expect, it, vi } from 'vitest'
import { createWebCryptoKey, siteKeyOf } from '../../src/certificate/web-crypto-key.ts'

afterEach(() => void vi.restoreAllMocks())

it('makes a P-256 key that cannot be exported', async () => {
  const { privateKey, publicKey } = await createWebCryptoKey()
  await expect(crypto.subtle.exportKey('pkcs8', privateKey)).rejects.toMatchObject({
    name: 'InvalidAccessError',
  })
  const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
  expect(key.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
})

it('makes signatures that OpenSSL verifies', async () => {
  const kept = await createWebCryptoKey()
  const key = createPublicKey({ key: Buffer.from(kept.publicKey), format: 'der', type: 'spki' })
  const { sign } = siteKeyOf(kept)
  // One in 128 has an r or s that is shorter than the others.
  for (let i = 0; i < 600; i++) {
    const content = Uint8Array.of(i >> 8, i)
    expect(verify('sha256', content, key, await sign(content))).toBe(true)
  }
})

const half = (hex: string): string => hex.padStart(64, '0')
it.each([
  ['small numbers', half('01') + half('7f'), '300602010102017f'],
  ['a first bit of 1, which is no sign', half('80') + half('ff'), '30080202008002' + '0200ff'],
  [
    'numbers of full length',
    '7f'.repeat(32) + 'ff'.repeat(32),
    `30450220${'7f'.repeat(32)}022100${'ff'.repeat(32)}`,
  ],
  ['zero', half('') + half('01'), '3006020100020101'],
])('encodes %s in the shortest form (X.690 §8.3)', async (_, raw, der) => {
  vi.spyOn(crypto.subtle, 'sign').mockResolvedValue(Uint8Array.from(Buffer.from(raw, 'hex')).buffer)
  const { sign } = siteKeyOf(await createWebCryptoKey())
  expect(Buffer.from(await sign(new Uint8Array())).toString('hex')).toBe(der)
})
