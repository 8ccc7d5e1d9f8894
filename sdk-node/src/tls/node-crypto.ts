// The TLS engine's cryptography on node:crypto: it seals and opens records synchronously.

import * as node from 'node:crypto'
import {
  type Aead,
  type CryptoProvider,
  type HashFunction,
  type KeyAgreement,
  type KeyPair,
  type RunningHash,
  TlsError,
  webCrypto,
} from '@svc/tls'
import { ALERT, CIPHER_SUITE, NAMED_GROUP } from '@svc/tls/messages'

/** Bytes of the tag, in all three suites (RFC 8446 §5.2). */
const TAG_BYTES = 16
/** ChaCha20-Poly1305 has the same interface as GCM, though not in the types. */
const CIPHER: Readonly<Record<number, node.CipherGCMTypes>> = {
  [CIPHER_SUITE.TLS_AES_128_GCM_SHA256]: 'aes-128-gcm',
  [CIPHER_SUITE.TLS_AES_256_GCM_SHA384]: 'aes-256-gcm',
  [CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256]: 'chacha20-poly1305' as node.CipherGCMTypes,
}
/** The bytes before the raw key in a SubjectPublicKeyInfo (RFC 9935 §4). */
const ML_KEM_768_SPKI: Buffer = Buffer.from('308204b2300b0609608648016503040402038204a100', 'hex')
/** FIPS 203, table 3: an encapsulation key of ML-KEM-768, which comes first in the hybrid share. */
const ENCAPSULATION_KEY_BYTES = 1184
/** SEC 1 §2.3.3: the only form in TLS 1.3 (RFC 8446 §4.2.8.2); OpenSSL would accept others. */
const UNCOMPRESSED_POINT = 4

export const nodeCrypto: CryptoProvider = {
  randomBytes: webCrypto.randomBytes,
  aead,
  agree: (group, peer) => {
    if (group !== NAMED_GROUP.X25519MLKEM768) return agreeOnCurve(group, peer)
    // This OpenSSL has no ML-KEM; the engine's own is slower.
    return hasMlKem() ? valid(() => agreeHybrid(peer)) : webCrypto.agree(group, peer)
  },
  keyPair,
  hash: (name) => HASH_FUNCTION[name],
}

/** @throws TlsError `illegal_parameter` for errors of OpenSSL, which concern the peer's key */
function valid<T>(run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new TlsError('illegal_parameter', 'the key share is no valid key of its group', {
      alert: ALERT.illegal_parameter,
      cause,
    })
  }
}

function aead(cipherSuite: number, keyBytes: Uint8Array): Aead {
  const name = CIPHER[cipherSuite]!
  const options = { authTagLength: TAG_BYTES }
  const key = node.createSecretKey(keyBytes)
  keyBytes.fill(0)
  const sealInto = (
    nonce: Uint8Array,
    additionalData: Uint8Array,
    parts: readonly Uint8Array[],
    out: Uint8Array,
  ): void => {
    const cipher = node.createCipheriv(name, key, nonce, options)
    cipher.setAAD(additionalData)
    let at = 0
    for (const part of parts) {
      out.set(cipher.update(part), at)
      at += part.length
    }
    cipher.final()
    out.set(cipher.getAuthTag(), at)
  }
  return {
    sealInto,
    seal: (nonce, additionalData, plaintext) => {
      const sealed = new Uint8Array(plaintext.length + TAG_BYTES)
      sealInto(nonce, additionalData, [plaintext], sealed)
      return sealed
    },
    open: (nonce, additionalData, ciphertext) => {
      const end = ciphertext.length - TAG_BYTES
      const decipher = node.createDecipheriv(name, key, nonce, options)
      decipher.setAAD(additionalData)
      decipher.setAuthTag(ciphertext.subarray(end))
      const plaintext = decipher.update(ciphertext.subarray(0, end))
      // Throws when the tag is wrong.
      decipher.final()
      return view(plaintext)
    },
  }
}

/** A synchronous key pair. */
interface SyncKeyPair extends KeyPair {
  agree(peer: Uint8Array): Uint8Array
}

function agreeOnCurve(group: number, peer: Uint8Array): KeyAgreement {
  const { keyExchange, agree } = keyPair(group)
  return { keyExchange, sharedSecret: agree(peer) }
}

function keyPair(group: number): SyncKeyPair {
  if (group === NAMED_GROUP.x25519) return x25519KeyPair()
  return curveKeyPair(group === NAMED_GROUP.secp256r1 ? 'prime256v1' : 'secp384r1')
}

function x25519KeyPair(): SyncKeyPair {
  const { privateKey, publicKey } = node.generateKeyPairSync('x25519')
  // RFC 8037 §2. Exporting a key as DER takes as long as creating it.
  const { x } = publicKey.export({ format: 'jwk' })
  return {
    keyExchange: view(Buffer.from(x!, 'base64url')),
    // OpenSSL refuses an all-zero secret, as RFC 8446 §7.4.2 requires.
    agree: (peer) => valid(() => view(node.diffieHellman({ privateKey, publicKey: x25519PublicKey(peer) }))),
    erase,
  }
}

function x25519PublicKey(raw: Uint8Array): node.KeyObject {
  const x = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('base64url')
  return node.createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
}

function curveKeyPair(curve: string): SyncKeyPair {
  const own = node.createECDH(curve)
  const agree = (peer: Uint8Array) => {
    if (peer[0] !== UNCOMPRESSED_POINT) throw new RangeError('the point is not in its uncompressed form')
    return view(own.computeSecret(peer))
  }
  return { keyExchange: view(own.generateKeys()), agree: (peer) => valid(() => agree(peer)), erase }
}

/** Does nothing, because the private key never was in JavaScript memory. */
function erase(): void {}

/** X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem §4): ML-KEM first, in the shares and in the secret. */
function agreeHybrid(peer: Uint8Array): KeyAgreement {
  const key = Buffer.concat([ML_KEM_768_SPKI, peer.subarray(0, ENCAPSULATION_KEY_BYTES)])
  const encapsulationKey = node.createPublicKey({ key, format: 'der', type: 'spki' })
  const { sharedKey, ciphertext } = node.encapsulate(encapsulationKey)
  const classical = agreeOnCurve(NAMED_GROUP.x25519, peer.subarray(ENCAPSULATION_KEY_BYTES))
  const sharedSecret = joined(sharedKey, classical.sharedSecret)
  sharedKey.fill(0)
  classical.sharedSecret.fill(0)
  return { keyExchange: joined(ciphertext, classical.keyExchange), sharedSecret }
}

const HASH_FUNCTION = { 'SHA-256': hashFunction('sha256', 32), 'SHA-384': hashFunction('sha384', 48) }

function hashFunction(name: string, length: number): HashFunction {
  return {
    length,
    start: () => runningHash(node.createHash(name)),
    digest: (bytes) => view(node.hash(name, bytes, 'buffer')),
    hmac: (key, message) => view(node.createHmac(name, key).update(message).digest()),
  }
}

function runningHash(hash: node.Hash): RunningHash {
  return {
    update: (bytes) => hash.update(bytes),
    clone: () => runningHash(hash.copy()),
    digest: () => view(hash.digest()),
  }
}

/** Concatenates in a separate buffer: a secret must not remain in Node's pool. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}

/** @returns the same bytes as a Uint8Array, without Buffer's `slice` */
function view({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length)
}

let mlKem: boolean | undefined

/** @returns whether Node has ML-KEM: since 24.7, if its OpenSSL is 3.5 or later */
function hasMlKem(): boolean {
  mlKem ??= typeof node.encapsulate === 'function' && canGenerateMlKem()
  return mlKem
}

function canGenerateMlKem(): boolean {
  try {
    node.generateKeyPairSync('ml-kem-768')
    return true
  } catch {
    return false
  }
}
