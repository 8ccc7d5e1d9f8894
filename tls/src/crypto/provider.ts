// The interface of the cryptographic primitives, which WebCrypto, noble, or another library can implement.

import type { HashName } from '../messages/transcript.ts'

/** A MaybePromise is a value or a promise of one. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Returns whether the value is a promise. It checks for `then`, because the promise of an async function is no instance of a `Promise` that a
 * polyfill has replaced.
 */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function'
}

/** An Aead is the AEAD of one cipher suite under one key (RFC 8446 §5.2). Its methods may return a promise or not. */
export interface Aead {
  /**
   * Seals a plaintext. It has read the plaintext when the call returns, even with a promise, so that the caller may reuse its memory.
   * @returns the ciphertext with its 16-byte tag, in new memory
   */
  seal(nonce: Uint8Array, additionalData: Uint8Array, plaintext: Uint8Array): MaybePromise<Uint8Array>
  /**
   * Seals the concatenated `parts` into `out`, whose length is that of all of them and the tag. It exists only
   * if sealing is synchronous, and saves three copies of every record.
   */
  sealInto?(
    nonce: Uint8Array,
    additionalData: Uint8Array,
    parts: readonly Uint8Array[],
    out: Uint8Array,
  ): void
  /** Opens a ciphertext. It throws or rejects when the tag is wrong. */
  open(nonce: Uint8Array, additionalData: Uint8Array, ciphertext: Uint8Array): MaybePromise<Uint8Array>
}

/** A KeyAgreement is the server's half of a key exchange (§4.2.8): its fresh share, and the secret of both sides. */
export interface KeyAgreement {
  keyExchange: Uint8Array
  /** The shared secret, which the caller must erase. */
  sharedSecret: Uint8Array
}

/** A KeyPair is for a key exchange in which the server sends its share first, as in TLS 1.2. */
export interface KeyPair {
  keyExchange: Uint8Array
  /**
   * Agrees on a secret. It can be called once.
   * @returns the shared secret, which the caller must erase
   * @throws TlsError `illegal_parameter` as {@link CryptoProvider.agree} does
   */
  agree(peerKeyExchange: Uint8Array): MaybePromise<Uint8Array>
  /** Erases the private key, if its bytes are accessible. */
  erase(): void
}

/** A HashFunction is a hash function with its HMAC. */
export interface HashFunction {
  /** The length of a digest in bytes. */
  readonly length: number
  start(): RunningHash
  digest(bytes: Uint8Array): Uint8Array
  /** Returns an HMAC in new memory, which the caller must erase. */
  hmac(key: Uint8Array, message: Uint8Array): Uint8Array
}

/** RunningHash is an incremental hash. */
export interface RunningHash {
  update(bytes: Uint8Array): unknown
  clone(): RunningHash
  /** Returns the digest, and ends the hash. */
  digest(): Uint8Array
}

/** CryptoProvider is the engine's cryptography; {@link webCrypto} is the one for pages. */
export interface CryptoProvider {
  randomBytes(length: number): Uint8Array
  /** Returns the AEAD for a key, which it owns and erases. */
  aead(cipherSuite: number, key: Uint8Array): Aead
  /**
   * Makes a fresh share and agrees on a secret.
   * @throws TlsError `illegal_parameter` when the peer's share, whose length was checked, is not a valid key of the group
   *   (§4.2.8.2, §7.4.2)
   */
  agree(group: number, peerKeyExchange: Uint8Array): MaybePromise<KeyAgreement>
  /** Makes a key pair of x25519, secp256r1 or secp384r1. */
  keyPair(group: number): MaybePromise<KeyPair>
  /**
   * Returns the hash function.
   * @default noble's
   */
  hash?(name: HashName): HashFunction
}

export const AEAD_TAG_BYTES = 16
export const AEAD_NONCE_BYTES = 12
