// Record protection with the AEADs of TLS 1.2 (RFC 5246 §6.2.3.3; RFC 5288 §3; RFC 7905 §2).

import type { TrafficKeys } from '../crypto/key-schedule.ts'
import {
  AEAD_NONCE_BYTES,
  AEAD_TAG_BYTES,
  type CryptoProvider,
  type MaybePromise,
} from '../crypto/provider.ts'
import { TlsError, violation } from '../errors.ts'
import { ALERT, RECORD_FRAGMENT_MAX_BYTES } from '../messages/constants.ts'
import { concat } from '../messages/writer.ts'
import {
  opened,
  type Plaintext,
  protectedType,
  RecordProtection,
  recordHeader,
} from '../record/protection.ts'
import type { WireRecord } from '../record/record-reader.ts'
import type { Suite } from './cipher-suites.ts'

const SEQUENCE_BYTES = 8

export class Tls12Protection extends RecordProtection {
  readonly #recordIvBytes: number
  readonly #recordsMax: number

  constructor(crypto: CryptoProvider, suite: Suite, { key, iv }: TrafficKeys, recordsMax: number) {
    // Padded with zeros, the IV of AES-GCM works with the sequence number like that of ChaCha20-Poly1305.
    super(crypto, suite.aead, { key, iv: concat(iv, new Uint8Array(AEAD_NONCE_BYTES - iv.length)) })
    this.#recordIvBytes = suite.recordIvBytes
    this.#recordsMax = recordsMax
  }

  covers(): boolean {
    return true
  }

  /** Returns the record's header and, for AES-GCM, the explicit part of the nonce: the sequence number. */
  header({ type, content }: Plaintext): Uint8Array {
    const length = this.#recordIvBytes + content.length + AEAD_TAG_BYTES
    return concat(recordHeader(type, length), this.#sequenceNumber().subarray(0, this.#recordIvBytes))
  }

  seal(_: Uint8Array, { type, content }: Plaintext): MaybePromise<Uint8Array> {
    // TLS 1.2 has no KeyUpdate, and the server does not renegotiate.
    if (this.records >= this.#recordsMax)
      throw new TlsError('key_used_up', 'the key has reached its limit of records', {
        alert: ALERT.internal_error,
      })
    const additionalData = this.#additionalData(type, content.length)
    return this.aead.seal(this.nonce(), additionalData, content)
  }

  open({ header, fragment }: WireRecord): MaybePromise<Uint8Array | undefined> {
    const contentBytes = fragment.length - this.#recordIvBytes - AEAD_TAG_BYTES
    if (contentBytes < 0) return undefined
    const additionalData = this.#additionalData(header[0]!, contentBytes)
    const nonce = this.nonce()
    // The sender chooses this part, which need not be a counter.
    nonce.set(fragment.subarray(0, this.#recordIvBytes), AEAD_NONCE_BYTES - this.#recordIvBytes)
    return opened(this.aead, nonce, additionalData, fragment.subarray(this.#recordIvBytes))
  }

  content({ type }: WireRecord, content: Uint8Array): Plaintext {
    if (content.length > RECORD_FRAGMENT_MAX_BYTES)
      throw violation('record_overflow', `a plaintext of ${content.length} bytes`)
    return { type: protectedType(type), content }
  }

  /** Returns seq_num + TLSCompressed.type + version + length (§6.2.3.3). */
  #additionalData(type: number, contentBytes: number): Uint8Array {
    return concat(this.#sequenceNumber(), recordHeader(type, contentBytes))
  }

  #sequenceNumber(): Uint8Array {
    const bytes = new Uint8Array(SEQUENCE_BYTES)
    new DataView(bytes.buffer).setBigUint64(0, BigInt(this.records))
    return bytes
  }
}
