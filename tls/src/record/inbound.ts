// Opens the peer's records in order, several at a time, and checks the rules of RFC 8446 §5 on their order.

import { isPromise, type MaybePromise } from '../crypto/provider.ts'
import { type TlsError, violation } from '../errors.ts'
import { EARLY_DATA_SKIP_MAX_BYTES, RECEIVE_BACKLOG_MAX_BYTES, RECORDS_IN_FLIGHT } from '../limits.ts'
import { CONTENT_TYPE, RECORD_FRAGMENT_MAX_BYTES } from '../messages/constants.ts'
import type { Plaintext, RecordProtection } from './protection.ts'
import { RecordReader, type WireRecord } from './record-reader.ts'

/** A record, and its opening, unless it is dropped. */
interface Opening {
  record: WireRecord
  inner: MaybePromise<Uint8Array | undefined>
}

export class Inbound {
  readonly #reader = new RecordReader()
  #openings: Opening[] = []
  #protection: RecordProtection | undefined
  #everOpened = false
  /** The number of records opened ahead: 1 in a handshake, where almost every message changes the key. */
  #ahead = 1
  #handshaking = true
  #earlyDataBytesLeft = 0

  /** The bytes that `next` has not consumed. */
  get backlog(): number {
    return this.#reader.backlog
  }

  /** @returns whether `next` may find a record that it did not find before */
  push(bytes: Uint8Array): boolean {
    if (this.#reader.backlog > RECEIVE_BACKLOG_MAX_BYTES)
      throw violation('internal_error', 'too much input is waiting')
    return this.#reader.push(bytes)
  }

  /** Changes the key of all further records. Records opened ahead are opened again. */
  protect(protection: RecordProtection): void {
    this.#protection = protection
    this.#openings = this.#openings.map(({ record }) => this.#open(record))
  }

  /** Refuses handshake records after the peer's Finished. */
  endHandshake(): void {
    this.#handshaking = false
    this.#earlyDataBytesLeft = 0
    this.#ahead = RECORDS_IN_FLIGHT
  }

  /** Skips early data, which the server refused and the client may still send (§4.2.10). */
  skipEarlyData(): void {
    this.#earlyDataBytesLeft = EARLY_DATA_SKIP_MAX_BYTES
  }

  /** Ends the skipping at the second ClientHello (§4.2.10). */
  endEarlyData(): void {
    this.#earlyDataBytesLeft = 0
  }

  /** Drops all further records. */
  stop(error: TlsError): void {
    this.#openings = []
    this.#reader.stop(error)
  }

  /**
   * @returns the content of the next record, or undefined until more bytes come
   * @throws TlsError, or rejects with one, at the first violation
   */
  next(): MaybePromise<Plaintext | undefined> {
    for (;;) {
      this.#openAhead()
      const opening = this.#openings.shift()
      if (opening === undefined) return this.#noRecord()
      const plaintext = this.#accept(opening)
      if (isPromise(plaintext)) return plaintext.then((content) => content ?? this.next())
      if (plaintext !== undefined) return plaintext
    }
  }

  /** Reports a bad header only after all records before it. */
  #noRecord(): undefined {
    if (this.#reader.error !== undefined) throw this.#reader.error
  }

  #openAhead(): void {
    while (this.#openings.length < this.#ahead) {
      const record = this.#reader.shift()
      if (record === undefined) return
      this.#openings.push(this.#open(record))
    }
  }

  #open(record: WireRecord): Opening {
    const sealed = this.#protection?.covers(record.type)
    return { record, inner: sealed ? this.#protection!.open(record) : undefined }
  }

  /** @returns undefined when the record must be dropped */
  #accept({ record, inner }: Opening): MaybePromise<Plaintext | undefined> {
    if (!this.#protection?.covers(record.type)) return this.#acceptPlaintext(record)
    return isPromise(inner)
      ? inner.then((bytes) => this.#acceptInner(record, bytes))
      : this.#acceptInner(record, inner)
  }

  #acceptPlaintext({ type, fragment }: WireRecord): Plaintext | undefined {
    if (this.#protection !== undefined && !this.#isExempt(type))
      throw violation('unexpected_message', 'an unprotected record')
    if (type === CONTENT_TYPE.application_data) return this.#skip(fragment.length)
    if (fragment.length > RECORD_FRAGMENT_MAX_BYTES)
      throw violation('record_overflow', `a plaintext record of ${fragment.length} bytes`)
    return { type, content: fragment }
  }

  /**
   * Returns whether a record may be unprotected: a change_cipher_spec (§D.4), or an alert of a client that refused the
   * ServerHello and so has no key.
   */
  #isExempt(type: number): boolean {
    if (type === CONTENT_TYPE.alert) return this.#handshaking && !this.#everOpened
    return type === CONTENT_TYPE.change_cipher_spec && this.#handshaking
  }

  #skip(bytes: number): undefined {
    if (this.#earlyDataBytesLeft <= 0)
      throw violation('unexpected_message', 'application data in a handshake')
    this.#earlyDataBytesLeft -= bytes
  }

  #acceptInner(record: WireRecord, inner: Uint8Array | undefined): Plaintext | undefined {
    if (inner === undefined) {
      if (this.#earlyDataBytesLeft <= 0) throw violation('bad_record_mac', 'a record does not decrypt')
      this.#protection!.uncount()
      return this.#skip(record.fragment.length)
    }
    this.#everOpened = true
    this.#earlyDataBytesLeft = 0
    return this.#protection!.content(record, inner)
  }
}
