// Record protection (RFC 8446 §5.2) of one direction under one key, with its sequence number.

import type { TrafficKeys } from '../crypto/key-schedule.ts'
import {
  AEAD_TAG_BYTES,
  type Aead,
  type CryptoProvider,
  isPromise,
  type MaybePromise,
} from '../crypto/provider.ts'
import { violation } from '../errors.ts'
import { CIPHER_SUITE, CONTENT_TYPE, RECORD_FRAGMENT_MAX_BYTES, VERSION } from '../messages/constants.ts'
import type { WireRecord } from './record-reader.ts'

/** A Plaintext is a record's content, protected or not. */
export interface Plaintext {
  type: number
  content: Uint8Array
}

/** A LateSealed record is sealed directly into its destination. */
export interface LateSealed {
  readonly length: number
  /** Writes the record once, into exactly its length. */
  writeTo(out: Uint8Array): void
}

/** The bytes of each suite's AEAD key (RFC 5116 §5.1, §5.2; RFC 8439 §2.8). */
export const KEY_BYTES: Readonly<Record<number, number>> = {
  [CIPHER_SUITE.TLS_AES_128_GCM_SHA256]: 16,
  [CIPHER_SUITE.TLS_AES_256_GCM_SHA384]: 32,
  [CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256]: 32,
}

/** The part of the protection that all versions share: an AEAD, an IV and the number of the next record. */
export abstract class RecordProtection {
  protected readonly aead: Aead
  readonly #iv: Uint8Array
  #sequence = 0

  /** @param cipherSuite the TLS 1.3 suite with this AEAD */
  constructor(crypto: CryptoProvider, cipherSuite: number, { key, iv }: TrafficKeys) {
    this.aead = crypto.aead(cipherSuite, key)
    this.#iv = iv
  }

  /** The number of records that this key has sealed or opened. */
  get records(): number {
    return this.#sequence
  }

  /** Returns whether it protects records that have this type on the wire. */
  abstract covers(type: number): boolean

  /** Returns the bytes before the sealed ones. */
  abstract header(plaintext: Plaintext): Uint8Array

  abstract seal(header: Uint8Array, plaintext: Plaintext): MaybePromise<Uint8Array>

  /**
   * Seals without copies, if the AEAD supports it. Otherwise it returns undefined, and does not count the record.
   */
  sealLate(_header: Uint8Array, _plaintext: Plaintext): LateSealed | undefined {
    return undefined
  }

  /**
   * Opens a record.
   * @returns undefined when it is not authentic
   */
  abstract open(record: WireRecord): MaybePromise<Uint8Array | undefined>

  /**
   * Parses the result of `open`.
   * @throws TlsError when the record is malformed
   */
  abstract content(record: WireRecord, opened: Uint8Array): Plaintext

  /** Reverts the number of a skipped record of early data, which does not count (§4.2.10). */
  uncount(): void {
    this.#sequence--
  }

  /** Combines the 64-bit sequence number with the end of the IV (§5.3). */
  protected nonce(): Uint8Array {
    const nonce = new Uint8Array(this.#iv)
    let rest = this.#sequence
    for (let at = nonce.length - 1; rest > 0; at--) {
      nonce[at]! ^= rest & 0xff
      rest = Math.floor(rest / 0x100)
    }
    this.#sequence++
    return nonce
  }
}

/** The protection of TLS 1.3. */
export class Tls13Protection extends RecordProtection {
  /** The TLSInnerPlaintext before sealing. The memory is reused, because allocation costs more than the cipher. */
  #inner: Uint8Array = new Uint8Array()

  /** @param secret any traffic secret, which makes the keys; its owner keeps it */
  constructor(crypto: CryptoProvider, cipherSuite: number, secret: { keys(keyBytes: number): TrafficKeys }) {
    super(crypto, cipherSuite, secret.keys(KEY_BYTES[cipherSuite]!))
  }

  covers(type: number): boolean {
    return type === CONTENT_TYPE.application_data
  }

  header({ content }: Plaintext): Uint8Array {
    return ciphertextHeader(content.length)
  }

  /** Seals TLSCiphertext.encrypted_record. */
  seal(header: Uint8Array, { type, content }: Plaintext): MaybePromise<Uint8Array> {
    const length = content.length + 1
    if (this.#inner.length < length) this.#inner = new Uint8Array(length)
    this.#inner.set(content)
    this.#inner[content.length] = type
    return this.aead.seal(this.nonce(), header, this.#inner.subarray(0, length))
  }

  override sealLate(header: Uint8Array, { type, content }: Plaintext): LateSealed | undefined {
    const { aead } = this
    if (aead.sealInto === undefined) return undefined
    const nonce = this.nonce()
    return {
      length: content.length + 1 + AEAD_TAG_BYTES,
      writeTo: (out) => aead.sealInto!(nonce, header, [content, Uint8Array.of(type)], out),
    }
  }

  /** @returns the TLSInnerPlaintext */
  open({ header, fragment }: WireRecord): MaybePromise<Uint8Array | undefined> {
    // Every record takes a number, as `uncount` assumes, even one that is too short for a tag.
    const nonce = this.nonce()
    return fragment.length <= AEAD_TAG_BYTES ? undefined : opened(this.aead, nonce, header, fragment)
  }

  /** Parses TLSInnerPlaintext (§5.2, §5.4): content, its type, and zeros. */
  content(_: WireRecord, inner: Uint8Array): Plaintext {
    if (inner.length > RECORD_FRAGMENT_MAX_BYTES + 1)
      throw violation('record_overflow', `an inner plaintext of ${inner.length} bytes`)
    let end = inner.length - 1
    while (end >= 0 && inner[end] === 0) end--
    if (end < 0) throw violation('unexpected_message', 'a record of padding only')
    return { type: protectedType(inner[end]!), content: inner.subarray(0, end) }
  }
}

/** Returns the type on the wire. A change_cipher_spec is never protected (§5). */
export function protectedType(type: number): number {
  if (type < CONTENT_TYPE.alert || type > CONTENT_TYPE.application_data)
    throw violation('unexpected_message', `protected content of type ${type}`)
  return type
}

/**
 * Opens a ciphertext.
 * @returns undefined when the tag is wrong
 */
export function opened(
  aead: Aead,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  ciphertext: Uint8Array,
): MaybePromise<Uint8Array | undefined> {
  try {
    const plaintext = aead.open(nonce, additionalData, ciphertext)
    return isPromise(plaintext) ? plaintext.catch(() => undefined) : plaintext
  } catch {
    return undefined
  }
}

export function recordHeader(type: number, length: number): Uint8Array {
  // A DataView would allocate this small array outside V8's heap.
  return Uint8Array.of(type, VERSION.tls12 >> 8, VERSION.tls12 & 0xff, length >> 8, length & 0xff)
}

/** Returns the header of a protected record, which is its additional data (§5.2). */
export function ciphertextHeader(contentBytes: number): Uint8Array {
  return recordHeader(CONTENT_TYPE.application_data, contentBytes + 1 + AEAD_TAG_BYTES)
}
