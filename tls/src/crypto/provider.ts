// The seam to the primitives: what the engine asks of WebCrypto, noble, or another library.

import type { HashName } from '../messages/transcript.ts'

/** MaybePromise is a value that is there at once, or later. */
export type MaybePromise<T> = T | Promise<T>

/** AEAD of one cipher suite under one key (RFC 8446 §5.2). May answer at once or with a promise. */
export interface Aead {
  /**
   * Has read the plaintext when it returns, also where it returns a promise: the caller uses that memory again.
   * @returns the ciphertext with its 16-byte tag, in memory of its own
   */
  seal(nonce: Uint8Array, additionalData: Uint8Array, plaintext: Uint8Array): MaybePromise<Uint8Array>
  /**
   * Only where sealing is synchronous: seals `parts`, one after the other, into `out`, which has the length of all of
   * them and the tag. Spares three copies of every record.
   */
  sealInto?(
    nonce: Uint8Array,
    additionalData: Uint8Array,
    parts: readonly Uint8Array[],
    out: Uint8Array,
  ): void
  /** Throws or rejects when the tag is wrong. */
  open(nonce: Uint8Array, additionalData: Uint8Array, ciphertext: Uint8Array): MaybePromise<Uint8Array>
}

/** The server's half of a key exchange (§4.2.8): its own fresh share and the secret both sides have. */
export interface KeyAgreement {
  keyExchange: Uint8Array
  /** The caller erases it. */
  sharedSecret: Uint8Array
}

/** A key exchange in which the server speaks first, as in TLS 1.2. */
export interface KeyPair {
  keyExchange: Uint8Array
  /**
   * Once.
   * @returns the shared secret, which the caller erases
   * @throws TlsError `illegal_parameter` as {@link CryptoProvider.agree} does
   */
  agree(peerKeyExchange: Uint8Array): MaybePromise<Uint8Array>
  /** Of the private key, as far as its bytes can be reached. */
  erase(): void
}

/** A hash function with its HMAC. */
export interface HashFunction {
  /** Of a digest. */
  readonly length: number
  start(): RunningHash
  digest(bytes: Uint8Array): Uint8Array
  /** In memory of its own, which the caller erases. */
  hmac(key: Uint8Array, message: Uint8Array): Uint8Array
}

/** RunningHash is a hash that takes its input piece by piece. */
export interface RunningHash {
  update(bytes: Uint8Array): unknown
  clone(): RunningHash
  /** Ends it. */
  digest(): Uint8Array
}

/** CryptoProvider is the cryptography that the engine uses; {@link webCrypto} is the one for pages. */
export interface CryptoProvider {
  randomBytes(length: number): Uint8Array
  /** Takes the key over and erases it. */
  aead(cipherSuite: number, key: Uint8Array): Aead
  /**
   * @throws TlsError `illegal_parameter` when the peer's share is no valid key of the group (§4.2.8.2, §7.4.2); it has
   *   the right length already
   */
  agree(group: number, peerKeyExchange: Uint8Array): MaybePromise<KeyAgreement>
  /** Of x25519, secp256r1 or secp384r1. */
  keyPair(group: number): MaybePromise<KeyPair>
  /** noble's, unless given. */
  hash?(name: HashName): HashFunction
}

export const AEAD_TAG_BYTES = 16
export const AEAD_NONCE_BYTES = 12
