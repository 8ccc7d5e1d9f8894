// The default provider: WebCrypto if it has the algorithm, otherwise noble, which is loaded on demand.

import { violation } from '../errors.ts'
import { CIPHER_SUITE, NAMED_GROUP } from '../messages/constants.ts'
import { isAllZero } from './constant-time.ts'
import { agreeHybrid } from './hybrid.ts'
import {
  AEAD_NONCE_BYTES,
  type Aead,
  type CryptoProvider,
  type KeyAgreement,
  type KeyPair,
} from './provider.ts'

/** webCrypto uses WebCrypto for AES-GCM and key agreement if it has them, and noble for everything else. */
export const webCrypto: CryptoProvider = {
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  aead: (cipherSuite, key) =>
    // A page that is not a secure context has no `subtle`.
    cipherSuite === CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256 || crypto.subtle === undefined
      ? lateAead(import('./noble-aead.ts').then(({ nobleAead }) => nobleAead(cipherSuite, key)))
      : lateAead(aesGcm(key)),
  agree: (group, peer) =>
    group === NAMED_GROUP.X25519MLKEM768 ? agreeHybrid(peer, agreeOnCurve) : agreeOnCurve(group, peer),
  keyPair,
}

/** An AEAD for immediate use, whose key or code is still loading. */
function lateAead(loading: Promise<Aead>): Aead {
  let aead: Aead | undefined
  loading.then(
    (loaded) => {
      aead = loaded
    },
    // The waiting calls report the error.
    () => {},
  )
  return {
    seal: (nonce, additionalData, plaintext) => {
      if (aead !== undefined) return aead.seal(nonce, additionalData, plaintext)
      const copy = plaintext.slice()
      return loading.then((loaded) => loaded.seal(nonce, additionalData, copy))
    },
    open: (nonce, additionalData, ciphertext) =>
      aead !== undefined
        ? aead.open(nonce, additionalData, ciphertext)
        : loading.then((loaded) => loaded.open(nonce, additionalData, ciphertext)),
  }
}

async function aesGcm(keyBytes: Uint8Array): Promise<Aead> {
  const key = await crypto.subtle.importKey('raw', source(keyBytes), 'AES-GCM', false, ['encrypt', 'decrypt'])
  keyBytes.fill(0)
  const parameters = parametersOf()
  return {
    // "Let data be the result of getting a copy" (Web Cryptography §14.3.1): `encrypt` has read it when it returns.
    seal: async (nonce, additionalData, plaintext) =>
      new Uint8Array(await crypto.subtle.encrypt(parameters(nonce, additionalData), key, source(plaintext))),
    open: async (nonce, additionalData, ciphertext) =>
      new Uint8Array(await crypto.subtle.decrypt(parameters(nonce, additionalData), key, source(ciphertext))),
  }
}

/**
 * Returns a function that sets the parameters of the next call, reusing memory. WebCrypto copies them when it is
 * called ("normalize an algorithm", Web Cryptography §18.4.4). A browser allocates a buffer outside V8's heap for each short array
 * that it gets, which costs more than a copy into an existing one.
 */
function parametersOf(): (nonce: Uint8Array, additionalData: Uint8Array) => AesGcmParams {
  const iv = new Uint8Array(AEAD_NONCE_BYTES)
  let additional = new Uint8Array()
  return (nonce, additionalData) => {
    iv.set(nonce)
    if (additional.length !== additionalData.length) additional = new Uint8Array(additionalData.length)
    additional.set(additionalData)
    return { name: 'AES-GCM', iv, additionalData: additional }
  }
}

interface Curve {
  algorithm: { name: string; namedCurve?: string }
  secretBits: number
}

const CURVES: Readonly<Record<number, Curve>> = {
  [NAMED_GROUP.x25519]: { algorithm: { name: 'X25519' }, secretBits: 256 },
  [NAMED_GROUP.secp256r1]: { algorithm: { name: 'ECDH', namedCurve: 'P-256' }, secretBits: 256 },
  [NAMED_GROUP.secp384r1]: { algorithm: { name: 'ECDH', namedCurve: 'P-384' }, secretBits: 384 },
}

async function agreeOnCurve(group: number, peer: Uint8Array): Promise<KeyAgreement> {
  const { keyExchange, agree } = await keyPair(group)
  return { keyExchange, sharedSecret: await agree(peer) }
}

async function keyPair(group: number): Promise<KeyPair> {
  const { algorithm, secretBits } = CURVES[group]!
  const own = await generateKey(algorithm)
  if (own === undefined) return (await import('./noble-curves.ts')).nobleKeyPair(group)
  const agree = async (peer: Uint8Array): Promise<Uint8Array> => {
    let sharedSecret: Uint8Array
    try {
      const key = await crypto.subtle.importKey('raw', source(peer), algorithm, false, [])
      const parameters = { name: algorithm.name, public: key }
      sharedSecret = new Uint8Array(await crypto.subtle.deriveBits(parameters, own.privateKey, secretBits))
    } catch (error) {
      throw violation('illegal_parameter', 'the key share is no point of its group', error)
    }
    // The peer's point has a small order (X25519, §7.4.2).
    if (isAllZero(sharedSecret)) throw violation('illegal_parameter', 'the shared secret is all zero')
    return sharedSecret
  }
  const keyExchange = new Uint8Array(await crypto.subtle.exportKey('raw', own.publicKey))
  // The private key never was accessible bytes.
  return { keyExchange, agree, erase: () => {} }
}

/** Resolves with undefined when this WebCrypto lacks the curve. */
async function generateKey(algorithm: Curve['algorithm']): Promise<CryptoKeyPair | undefined> {
  try {
    return (await crypto.subtle.generateKey(algorithm, false, ['deriveBits'])) as CryptoKeyPair
  } catch {
    return undefined
  }
}

/** A cast: bytes over shared memory never get here, which the types do not express. */
function source(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>
}
