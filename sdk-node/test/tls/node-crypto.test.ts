// The provider on node:crypto: published vectors, the other provider as its peer, and invalid keys.

import {
  createECDH,
  createPublicKey,
  decapsulate,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { connect } from 'node:tls'
import { webCrypto } from '@svc/tls'
import { describe, expect, it } from 'vitest'
import { makeIdentity } from '../../../tls/test/support/certificates.ts'
import { listen } from '../../../tls/test/support/loopback.ts'
import { nodeCrypto } from '../../src/tls/node-crypto.ts'

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))
const X25519 = 0x001d
const P256 = 0x0017
const P384 = 0x0018
const HYBRID = 0x11ec

describe('hash', () => {
  const HASHES = [
    [
      'SHA-256',
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      'SHA-384',
      'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
      'af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649',
    ],
  ] as const

  it.each(HASHES)('%s: FIPS 180-4 "abc", RFC 4231 §4.3', (name, abc, mac) => {
    const { length, start, digest, hmac } = nodeCrypto.hash!(name)
    const encode = (text: string) => new TextEncoder().encode(text)
    expect(digest(encode('abc'))).toEqual(hex(abc))
    expect(length).toBe(hex(abc).length)
    expect(hmac(encode('Jefe'), encode('what do ya want for nothing?'))).toEqual(hex(mac))
    const running = start()
    running.update(encode('ab'))
    const clone = running.clone()
    clone.update(encode('d'))
    running.update(encode('c'))
    expect([running.digest(), clone.digest()]).toEqual([hex(abc), digest(encode('abd'))])
  })
})

describe('AEAD', () => {
  it('ChaCha20-Poly1305: RFC 8439 §2.8.2', async () => {
    const key = hex('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f')
    const nonce = hex('070000004041424344454647')
    const additionalData = hex('50515253c0c1c2c3c4c5c6c7')
    const plaintext = new TextEncoder().encode(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
    )
    const sealed = hex(`
      d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b
      1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
      3ff4def08e4b7a9de576d26586cec64b6116 1ae10b594f09e26a7e902ecbd0600691`)
    const aead = nodeCrypto.aead(0x1303, key)
    expect(aead.seal(nonce, additionalData, plaintext)).toEqual(sealed)
    expect(aead.open(nonce, additionalData, sealed)).toEqual(plaintext)
    expect(key).toEqual(new Uint8Array(32))
  })

  it.each([
    [
      'AES-128-GCM: test case 4',
      0x1301,
      'feffe9928665731c6d6a8f9467308308',
      '5bc94fbc3221a5db94fae95ae7121a47',
    ],
    [
      'AES-256-GCM: test case 16',
      0x1302,
      'feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308',
      '76fc6ece0f4e1768cddf8853bb2d551b',
    ],
  ])('%s of the GCM specification', (_, suite, key, tag) => {
    const plaintext = hex(`
      d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
      1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39`)
    const nonce = hex('cafebabefacedbaddecaf888')
    const additionalData = hex('feedfacedeadbeeffeedfacedeadbeefabaddad2')
    const aead = nodeCrypto.aead(suite, hex(key))
    const sealed = aead.seal(nonce, additionalData, plaintext) as Uint8Array
    expect(Buffer.from(sealed.subarray(-16)).toString('hex')).toBe(tag)
    expect(aead.open(nonce, additionalData, sealed)).toEqual(plaintext)
  })

  it.each([0x1301, 0x1302, 0x1303])('refuses a changed record of suite %i', (suite) => {
    const aead = nodeCrypto.aead(suite, new Uint8Array(suite === 0x1301 ? 16 : 32))
    const nonce = new Uint8Array(12)
    const sealed = aead.seal(nonce, Uint8Array.of(1), Uint8Array.of(1, 2, 3)) as Uint8Array
    expect(() => aead.open(nonce, Uint8Array.of(2), sealed)).toThrow()
    sealed[0]! ^= 1
    expect(() => aead.open(nonce, Uint8Array.of(1), sealed)).toThrow()
  })
})

describe('key agreement', () => {
  it('X25519: both sides have one secret, and an all-zero one is refused (RFC 8446 §7.4.2)', async () => {
    const peer = generateKeyPairSync('x25519')
    const { keyExchange, sharedSecret } = await nodeCrypto.agree(X25519, x25519Raw(peer.publicKey))
    expect(sharedSecret).toEqual(x25519Secret(peer.privateKey, keyExchange))
    expect(() => nodeCrypto.agree(X25519, new Uint8Array(32))).toThrow(illegalParameter)
  })

  it.each([
    [P256, 'prime256v1'],
    [P384, 'secp384r1'],
  ])('group %i: both sides have one secret', async (group, curve) => {
    const peer = createECDH(curve)
    const { keyExchange, sharedSecret } = await nodeCrypto.agree(group, Uint8Array.from(peer.generateKeys()))
    expect(Buffer.from(sharedSecret)).toEqual(peer.computeSecret(keyExchange))
  })

  it.each([X25519, P256, P384])('group %i: a server that speaks first, as in TLS 1.2', async (group) => {
    const [ours, theirs] = [await nodeCrypto.keyPair(group), await webCrypto.keyPair(group)]
    expect(await ours.agree(theirs.keyExchange)).toEqual(await theirs.agree(ours.keyExchange))
    expect(() => ours.agree(new Uint8Array(ours.keyExchange.length))).toThrow(illegalParameter)
  })

  it('refuses points that are not on the curve, and forms that TLS 1.3 does not have (RFC 8446 §4.2.8.2)', () => {
    const peer = createECDH('prime256v1')
    peer.generateKeys()
    const offCurve = Uint8Array.from(peer.getPublicKey())
    offCurve[64]! ^= 1
    expect(() => nodeCrypto.agree(P256, offCurve)).toThrow(illegalParameter)
    const hybridForm = Uint8Array.from(peer.getPublicKey(null, 'hybrid'))
    expect(hybridForm).toHaveLength(65)
    expect(() => nodeCrypto.agree(P256, hybridForm)).toThrow(illegalParameter)
  })

  it('X25519MLKEM768: ML-KEM first, in the share and in the secret', async () => {
    const kem = generateKeyPairSync('ml-kem-768')
    const classical = generateKeyPairSync('x25519')
    const encapsulationKey = kem.publicKey.export({ format: 'der', type: 'spki' }).subarray(-1184)
    const share = Uint8Array.from(Buffer.concat([encapsulationKey, x25519Raw(classical.publicKey)]))
    for (const provider of [nodeCrypto, webCrypto]) {
      const { keyExchange, sharedSecret } = await provider.agree(HYBRID, share)
      expect(keyExchange).toHaveLength(1088 + 32)
      const secret = Buffer.concat([
        decapsulate(kem.privateKey, keyExchange.subarray(0, 1088)),
        x25519Secret(classical.privateKey, keyExchange.subarray(1088)),
      ])
      expect(Buffer.from(sharedSecret)).toEqual(secret)
    }
    // FIPS 203 §7.2: coefficients are below 3329.
    share.fill(0xff, 0, 3)
    expect(() => nodeCrypto.agree(HYBRID, share)).toThrow(illegalParameter)
  })
})

describe('the engine on it', () => {
  it.each(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])(
    'serves node:tls with %s',
    async (ciphers) => {
      const sent = Uint8Array.from({ length: 1_000_000 }, (_, at) => at % 251)
      const identity = makeIdentity('ec')
      const { port } = await listen(
        { ...identity.config, alpn: [], crypto: nodeCrypto },
        {
          data: async ({ tls }, bytes) => {
            await tls.write(bytes)
            await tls.write(sent)
            await tls.end()
          },
        },
      )
      const client = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: identity.pem, ciphers })
      let agreed: string | undefined
      client.once('secureConnect', () => {
        agreed = client.getCipher().standardName
        client.write('hello')
      })
      const received = Buffer.concat(await client.toArray())
      expect(agreed).toBe(ciphers)
      expect(Buffer.compare(received, Buffer.concat([Buffer.from('hello'), sent]))).toBe(0)
    },
  )
})

const illegalParameter = expect.objectContaining({ code: 'illegal_parameter', alert: 47 })

function x25519Raw(key: KeyObject): Uint8Array {
  return Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))
}

function x25519Secret(privateKey: KeyObject, peer: Uint8Array): Uint8Array {
  const x = Buffer.from(peer).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
  return Uint8Array.from(diffieHellman({ privateKey, publicKey }))
}
