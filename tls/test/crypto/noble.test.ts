// The noble fallbacks agree with node:crypto, in both directions.

import { createECDH, generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { nobleAead } from '../../src/crypto/noble-aead.ts'
import { nobleKeyPair } from '../../src/crypto/noble-curves.ts'
import { webCrypto } from '../../src/index.ts'
import { makeIdentity } from '../support/certificates.ts'
import { RawClient } from '../support/raw-client.ts'
import { syncCrypto, x25519 } from '../support/sync-crypto.ts'

afterEach(() => void vi.unstubAllGlobals())

test.each([
  [0x1301, 16],
  [0x1302, 32],
  [0x1303, 32],
])('AEAD of suite %i', async (suite, keyBytes) => {
  const key = syncCrypto.randomBytes(keyBytes)
  const [nonce, data, text] = [
    syncCrypto.randomBytes(12),
    syncCrypto.randomBytes(5),
    syncCrypto.randomBytes(100),
  ]
  const [ours, theirs] = [nobleAead(suite, key.slice()), syncCrypto.aead(suite, key)]
  const sealed = await ours.seal(nonce, data, text)
  expect(sealed).toEqual(await theirs.seal(nonce, data, text))
  expect(await ours.open(nonce, data, sealed)).toEqual(text)
  expect(() => ours.open(nonce, data, sealed.with(0, sealed[0]! ^ 1))).toThrow()
})

describe('key exchange', () => {
  test.each([
    [0x0017, 'prime256v1'],
    [0x0018, 'secp384r1'],
  ])('%i, %s', (group, curve) => {
    const peer = createECDH(curve)
    const ours = nobleKeyPair(group)
    const secret = ours.agree(new Uint8Array(peer.generateKeys()))
    expect(secret).toEqual(new Uint8Array(peer.computeSecret(ours.keyExchange)))
  })

  test('X25519', () => {
    const peer = generateKeyPairSync('x25519')
    const share = Buffer.from(peer.publicKey.export({ format: 'jwk' }).x!, 'base64url')
    const ours = nobleKeyPair(0x001d)
    expect(ours.agree(new Uint8Array(share))).toEqual(x25519(peer.privateKey, ours.keyExchange))
  })

  test.each([
    [0x0017, 65],
    [0x0018, 97],
    [0x001d, 32],
  ])('%i: no point, or one of small order', (group, bytes) => {
    expect(() => nobleKeyPair(group).agree(new Uint8Array(bytes))).toThrow(
      expect.objectContaining({ alert: 47 }),
    )
  })
})

test('a page without a secure context has no crypto.subtle: noble does it all', async () => {
  const { config } = makeIdentity('ec')
  vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(4) })
  const client = new RawClient({ ...config, alpn: [], crypto: webCrypto })
  await client.connect()
  await client.server.write(Uint8Array.of(1, 2, 3))
  expect(client.received).toEqual(Uint8Array.of(1, 2, 3))
})
