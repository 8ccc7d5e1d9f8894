// The primitives behind the seam against Project Wycheproof's vectors, which attack what implementations get wrong.

import { createECDH, createPublicKey, webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { HASH } from '../../src/crypto/hash.ts'
import { nobleAead } from '../../src/crypto/noble-aead.ts'
import { nobleKeyPair } from '../../src/crypto/noble-curves.ts'
import { webCrypto } from '../../src/crypto/webcrypto.ts'
import { hex } from '../support/hex.ts'

/** Each file names its columns, its origin and its licence. */
function vectors<Row extends unknown[]>(name: string): Row[] {
  return JSON.parse(readFileSync(new URL(`../vectors/wycheproof/${name}.json`, import.meta.url), 'utf8'))
    .tests
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const INVALID = { code: 'illegal_parameter', alert: 47 }

afterEach(() => void vi.restoreAllMocks())

type AeadRow = [
  tcId: number,
  key: string,
  nonce: string,
  aad: string,
  msg: string,
  sealed: string,
  result: string,
]

describe.each([
  ['AES-GCM by WebCrypto', 'aes-gcm', webCrypto.aead],
  ['AES-GCM by noble', 'aes-gcm', nobleAead],
  ['ChaCha20-Poly1305 by noble', 'chacha20-poly1305', nobleAead],
])('%s', (_, file, aead) => {
  const rows = vectors<AeadRow>(file)
  const suiteOf = (key: string) => (file === 'aes-gcm' ? (key.length === 32 ? 0x1301 : 0x1302) : 0x1303)

  test('seals and opens', async () => {
    const valid = rows.filter((row) => row[6] === 'valid')
    for (const [tcId, key, nonce, aad, msg, sealed] of valid) {
      const cipher = aead(suiteOf(key), hex(key))
      const bytes = [hex(nonce), hex(aad)] as const
      expect(text(await cipher.seal(...bytes, hex(msg))), `tcId ${tcId}`).toBe(sealed)
      expect(text(await cipher.open(...bytes, hex(sealed))), `tcId ${tcId}`).toBe(msg)
    }
  })

  test('opens nothing that was changed', async () => {
    const invalid = rows.filter((row) => row[6] === 'invalid')
    expect(invalid.length).toBeGreaterThan(20)
    for (const [tcId, key, nonce, aad, , sealed] of invalid) {
      const cipher = aead(suiteOf(key), hex(key))
      const open = async () => cipher.open(hex(nonce), hex(aad), hex(sealed))
      await expect(open(), `tcId ${tcId}`).rejects.toThrow()
    }
  })
})

describe.each([
  ['SHA-256', 'hkdf-sha256'],
  ['SHA-384', 'hkdf-sha384'],
] as const)('HKDF with %s', (name, file) => {
  type HkdfRow = [number, ikm: string, salt: string, info: string, size: number, okm: string, result: string]

  test('extracts and expands', () => {
    for (const [tcId, ikm, salt, info, size, okm, result] of vectors<HkdfRow>(file)) {
      const { extract, expand } = HASH[name]
      const derive = () => expand(extract(hex(salt), hex(ikm)), hex(info), size)
      if (result === 'valid') expect(text(derive()), `tcId ${tcId}`).toBe(okm)
      else expect(derive, `tcId ${tcId}`).toThrow()
    }
  })
})

describe('key exchange', () => {
  type Pair = [tcId: number, theirs: string, own: string, shared: string, valid: boolean]

  /** §7.4.2: an all-zero secret must be refused, whatever else the vectors think of it. */
  const x25519: Pair[] = vectors<[number, string, string, string, string]>('x25519').map(
    ([tcId, theirs, own, shared]) => [tcId, theirs, own, shared, !/^0*$/.test(shared)],
  )
  type EcRow = [number, string, string, string, string[], string]
  /**
   * §4.2.8.2: uncompressed points only; the engine has looked at the length before. Without the secret of zeros, which
   * only who knows the private key can bring about: WebCrypto's path refuses it in every group, noble's in X25519.
   */
  const ec = (name: string, bytes: number): Pair[] =>
    vectors<EcRow>(name)
      .filter(([, theirs, , shared]) => theirs.length === bytes * 2 && !/^0+$/.test(shared))
      .map(([tcId, theirs, own, shared, , result]) => [tcId, theirs, own, shared, result === 'valid'])

  describe.each([
    ['X25519', 0x001d, x25519, 'x25519'],
    ['P-256', 0x0017, ec('ecdh-p256', 65), 'prime256v1'],
    ['P-384', 0x0018, ec('ecdh-p384', 97), 'secp384r1'],
  ] as const)('%s', (_, group, pairs, curve) => {
    test('vectors of both kinds are there', () => {
      expect(pairs.filter(([, , , , valid]) => valid).length).toBeGreaterThan(50)
      expect(pairs.filter(([, , , , valid]) => !valid).length).toBeGreaterThan(5)
    })

    test('by WebCrypto', async () => {
      for (const [tcId, theirs, own, shared, valid] of pairs) {
        const pair = await keyPair(curve, own)
        vi.spyOn(crypto.subtle, 'generateKey').mockImplementation(async () => pair)
        const agreed = (async () => webCrypto.agree(group, hex(theirs)))()
        if (valid) expect(text((await agreed).sharedSecret), `tcId ${tcId}`).toBe(shared)
        else await expect(agreed, `tcId ${tcId}`).rejects.toMatchObject(INVALID)
      }
    })

    test('by noble', () => {
      for (const [tcId, theirs, own, shared, valid] of pairs) {
        randomIs(group === 0x001d ? hex(own) : seedOf(own))
        const agree = () => nobleKeyPair(group).agree(hex(theirs)) as Uint8Array
        if (valid) expect(text(agree()), `tcId ${tcId}`).toBe(shared)
        else expect(agree, `tcId ${tcId}`).toThrow(expect.objectContaining(INVALID))
      }
    })
  })

  type KemRow = [tcId: number, ek: string, m: string, c: string, secret: string, result: string]

  describe('X25519MLKEM768', () => {
    const kems = vectors<KemRow>('mlkem768-encaps')
    const agree = async (encapsulationKey: Uint8Array) => {
      const x25519Share = new Uint8Array(32)
      x25519Share[0] = 9
      return webCrypto.agree(0x11ec, new Uint8Array([...encapsulationKey, ...x25519Share]))
    }

    test('by noble, where WebCrypto has not heard of it', async () => {
      for (const [tcId, ek, m, c, secret, result] of kems) {
        vi.restoreAllMocks()
        withoutMlKem()
        randomIs(hex(m))
        const agreed = agree(hex(ek))
        if (result === 'valid') {
          const { keyExchange, sharedSecret } = await agreed
          expect(text(keyExchange.subarray(0, 1088)), `tcId ${tcId}`).toBe(c)
          expect(text(sharedSecret.subarray(0, 32)), `tcId ${tcId}`).toBe(secret)
        } else await expect(agreed, `tcId ${tcId}`).rejects.toMatchObject(INVALID)
      }
    })

    // Its randomness cannot be given.
    test('by WebCrypto: refuses a key that is no key', async () => {
      for (const [tcId, ek, , , , result] of kems) {
        const agreed = agree(hex(ek))
        if (result === 'valid') expect((await agreed).sharedSecret, `tcId ${tcId}`).toHaveLength(64)
        else await expect(agreed, `tcId ${tcId}`).rejects.toMatchObject(INVALID)
      }
    })

    test('by WebCrypto: the other side has the same secret', async () => {
      const encapsulate = vi.spyOn(crypto.subtle as never, 'encapsulateBits')
      const peer = ml_kem768.keygen()
      const { keyExchange, sharedSecret } = await agree(peer.publicKey)
      expect(encapsulate).toHaveBeenCalledOnce()
      expect(ml_kem768.decapsulate(keyExchange.subarray(0, 1088), peer.secretKey)).toEqual(
        sharedSecret.subarray(0, 32),
      )
    })
  })
})

function withoutMlKem(): void {
  const importKey = crypto.subtle.importKey.bind(crypto.subtle) as (...all: unknown[]) => Promise<CryptoKey>
  vi.spyOn(crypto.subtle, 'importKey').mockImplementation(((...all: unknown[]) =>
    all[2] === 'ML-KEM-768'
      ? Promise.reject(new DOMException('no such algorithm', 'NotSupportedError'))
      : importKey(...all)) as never)
}

/** Noble asks for this many random bytes and gets these; for others, with which it blinds, it gets zeros. */
function randomIs(bytes: Uint8Array): void {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const view = array as Uint8Array
    if (view.length === bytes.length) view.set(bytes)
    return array
  })
}

/** FIPS 186-5 §A.2.1, which noble follows: a private key is a longer random number, modulo n - 1, plus 1. */
function seedOf(privateKey: string): Uint8Array {
  const seedBytes = (privateKey.length / 2) * 1.5
  return hex((BigInt(`0x${privateKey}`) - 1n).toString(16).padStart(seedBytes * 2, '0'))
}

/** A WebCrypto key pair with this private key; its public half is of another key where that does not matter. */
async function keyPair(curve: string, privateKey: string): Promise<CryptoKeyPair> {
  if (curve === 'x25519') {
    const any = (await webcrypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair
    const pkcs8 = hex(`302e020100300506032b656e04220420${privateKey}`)
    const own = await crypto.subtle.importKey('pkcs8', pkcs8, 'X25519', false, ['deriveBits'])
    return { privateKey: own, publicKey: any.publicKey }
  }
  const ecdh = createECDH(curve)
  ecdh.setPrivateKey(Buffer.from(privateKey, 'hex'))
  const point = ecdh.getPublicKey()
  const half = (point.length - 1) / 2
  const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)].map((one) =>
    one.toString('base64url'),
  )
  const crv = curve === 'prime256v1' ? 'P-256' : 'P-384'
  const algorithm = { name: 'ECDH', namedCurve: crv }
  const jwk = { kty: 'EC', crv, x: x!, y: y!, d: Buffer.from(privateKey, 'hex').toString('base64url') }
  const publicJwk = createPublicKey({ key: { kty: 'EC', crv, x: x!, y: y! }, format: 'jwk' }).export({
    format: 'jwk',
  })
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['deriveBits']),
    publicKey: await crypto.subtle.importKey('jwk', publicJwk as JsonWebKey, algorithm, true, []),
  }
}
