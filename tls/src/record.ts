// Record protection (RFC 8446 §5.2): one direction under one key, with its sequence number.

import { AEAD_TAG_BYTES, type Aead, type CryptoProvider, type MaybePromise } from './crypto/provider.ts'
import type { TrafficKeys } from './key-schedule.ts'
import { CIPHER_SUITE, CONTENT_TYPE, RECORD_HEADER_BYTES, VERSION } from './messages/constants.ts'
import type { WireRecord } from './record-reader.ts'

/** A record's content, protected or not. */
export interface Plaintext {
  type: number
  content: Uint8Array
}

/** Bytes of the AEAD key of a suite (RFC 5116 §5.1, §5.2; RFC 8439 §2.8). */
const KEY_BYTES: Readonly<Record<number, number>> = {
  [CIPHER_SUITE.TLS_AES_128_GCM_SHA256]: 16,
  [CIPHER_SUITE.TLS_AES_256_GCM_SHA384]: 32,
  [CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256]: 32,
}

export class Protection {
  readonly #aead: Aead
  readonly #iv: Uint8Array
  #sequence = 0

  /** `secret` is any traffic secret: it gives the keys, and stays its owner's. */
  constructor(crypto: CryptoProvider, cipherSuite: number, secret: { keys(keyBytes: number): TrafficKeys }) {
    const { key, iv } = secret.keys(KEY_BYTES[cipherSuite]!)
    this.#aead = crypto.aead(cipherSuite, key)
    this.#iv = iv
  }

  /** Records that this key has sealed or opened. */
  get records(): number {
    return this.#sequence
  }

  /** TLSCiphertext.encrypted_record; `header` comes from {@link ciphertextHeader}. */
  seal(header: Uint8Array, { type, content }: Plaintext): MaybePromise<Uint8Array> {
    const inner = new Uint8Array(content.length + 1)
    inner.set(content)
    inner[content.length] = type
    return this.#aead.seal(this.#nonce(), header, inner)
  }

  /** @returns TLSInnerPlaintext with its type and padding, or undefined when the record is not authentic */
  open({ header, fragment }: WireRecord): MaybePromise<Uint8Array | undefined> {
    if (fragment.length <= AEAD_TAG_BYTES) return undefined
    try {
      const inner = this.#aead.open(this.#nonce(), header, fragment)
      return inner instanceof Promise ? inner.catch(() => undefined) : inner
    } catch {
      return undefined
    }
  }

  /** §4.2.10: a skipped record of early data does not count. */
  uncount(): void {
    this.#sequence--
  }

  /** §5.3: the sequence number, as 64 bits, over the end of the IV. */
  #nonce(): Uint8Array {
    const nonce = this.#iv.slice()
    const view = new DataView(nonce.buffer)
    view.setUint32(4, view.getUint32(4) ^ Math.floor(this.#sequence / 2 ** 32))
    view.setUint32(8, view.getUint32(8) ^ (this.#sequence >>> 0))
    this.#sequence++
    return nonce
  }
}

export function recordHeader(type: number, length: number): Uint8Array {
  const header = new Uint8Array(RECORD_HEADER_BYTES)
  header[0] = type
  new DataView(header.buffer).setUint16(1, VERSION.tls12)
  new DataView(header.buffer).setUint16(3, length)
  return header
}

/** The header of a protected record is its additional data (§5.2). */
export function ciphertextHeader(contentBytes: number): Uint8Array {
  return recordHeader(CONTENT_TYPE.application_data, contentBytes + 1 + AEAD_TAG_BYTES)
}
