// Splits a byte stream into records (RFC 8446 §5.1, §5.2), in any chunking. Each byte is copied at most once.

import { type TlsError, violation } from '../errors.ts'
import { CHUNK_OVERHEAD_BYTES, RECORD_EXPANSION_MAX_BYTES } from '../limits.ts'
import { CONTENT_TYPE, RECORD_FRAGMENT_MAX_BYTES, RECORD_HEADER_BYTES } from '../messages/constants.ts'
import { Fifo } from './fifo.ts'

const FRAGMENT_MAX_BYTES = RECORD_FRAGMENT_MAX_BYTES + RECORD_EXPANSION_MAX_BYTES
const NOTHING = new Uint8Array()

/** A WireRecord is a record as received: plaintext or ciphertext. */
export interface WireRecord {
  type: number
  header: Uint8Array
  fragment: Uint8Array
}

/**
 * RecordReader parses a record only when `shift` is called, so that a flood of tiny ones costs no more memory than its
 * bytes. The middle of a fragment is not queued: otherwise a client that sends byte by byte would make tens of
 * thousands of chunks.
 */
export class RecordReader {
  readonly #chunks = new Fifo<Uint8Array>()
  #chunk: Uint8Array = NOTHING
  #backlog = 0
  #header = new Uint8Array(RECORD_HEADER_BYTES)
  #headerBytes = 0
  /** The received part of an incomplete fragment. */
  #partial: Uint8Array | undefined
  #partialBytesLeft = 0
  #error: TlsError | undefined

  /** The unparsed bytes, including their overhead. */
  get backlog(): number {
    return this.#backlog
  }

  /** The error that ends the records: an invalid header. */
  get error(): TlsError | undefined {
    return this.#error
  }

  /**
   * Adds bytes, which are kept: their owner must not change them.
   * @returns whether there is something to parse
   */
  push(bytes: Uint8Array): boolean {
    if (this.#error !== undefined) return false
    if (this.#partial !== undefined && this.#backlog === 0 && bytes.length < this.#partialBytesLeft) {
      this.#append(this.#partial, bytes)
      return false
    }
    this.#chunks.push(bytes)
    this.#backlog += bytes.length + CHUNK_OVERHEAD_BYTES
    return true
  }

  /** @returns the next whole record, or undefined until more bytes come */
  shift(): WireRecord | undefined {
    while (this.#error === undefined) {
      if (this.#chunk.length === 0 && !this.#nextChunk()) return undefined
      const before = this.#chunk.length
      const record = this.#headerBytes < RECORD_HEADER_BYTES ? this.#readHeader() : this.#readFragment()
      this.#backlog -= before - this.#chunk.length
      if (record !== undefined) return record
    }
    return undefined
  }

  /** Drops all bytes, and all later ones. */
  stop(error: TlsError): void {
    this.#chunks.clear()
    this.#chunk = NOTHING
    this.#partial = undefined
    this.#backlog = 0
    this.#error = error
  }

  #nextChunk(): boolean {
    const chunk = this.#chunks.shift()
    if (chunk === undefined) return false
    this.#chunk = chunk
    this.#backlog -= CHUNK_OVERHEAD_BYTES
    return true
  }

  /** Takes up to `length` bytes of the chunk. */
  #take(length: number): Uint8Array {
    const chunk = this.#chunk
    // Otherwise a client that sends byte by byte would cause tens of thousands of views.
    this.#chunk = chunk.length <= length ? NOTHING : chunk.subarray(length)
    return chunk.length <= length ? chunk : chunk.subarray(0, length)
  }

  get #fragmentLength(): number {
    return (this.#header[3]! << 8) | this.#header[4]!
  }

  /** Parses a header. The version "MUST be ignored for all purposes" (§5.1). */
  #readHeader(): WireRecord | undefined {
    const piece = this.#take(RECORD_HEADER_BYTES - this.#headerBytes)
    this.#header.set(piece, this.#headerBytes)
    this.#headerBytes += piece.length
    const type = this.#header[0]
    if (
      piece.length > 0 &&
      (type! < CONTENT_TYPE.change_cipher_spec || type! > CONTENT_TYPE.application_data)
    )
      this.#error = violation('unexpected_message', `a record of unknown type ${type}`)
    if (this.#headerBytes < RECORD_HEADER_BYTES) return undefined
    const length = this.#fragmentLength
    if (length > FRAGMENT_MAX_BYTES)
      this.#error ??= violation('record_overflow', `a record of ${length} bytes`)
    return length === 0 && this.#error === undefined ? this.#finish(NOTHING) : undefined
  }

  #readFragment(): WireRecord | undefined {
    const length = this.#fragmentLength
    if (this.#partial === undefined && this.#chunk.length >= length) return this.#finish(this.#take(length))
    if (this.#partial === undefined) {
      this.#partial = new Uint8Array(length)
      this.#partialBytesLeft = length
    }
    this.#append(this.#partial, this.#take(this.#partialBytesLeft))
    return this.#partialBytesLeft === 0 ? this.#finish(this.#partial) : undefined
  }

  #append(partial: Uint8Array, piece: Uint8Array): void {
    // A call of `set` costs more than a byte's assignment.
    const at = partial.length - this.#partialBytesLeft
    if (piece.length === 1) partial[at] = piece[0]!
    else partial.set(piece, at)
    this.#partialBytesLeft -= piece.length
  }

  #finish(fragment: Uint8Array): WireRecord {
    const record = { type: this.#header[0]!, header: this.#header, fragment }
    this.#header = new Uint8Array(RECORD_HEADER_BYTES)
    this.#headerBytes = 0
    this.#partial = undefined
    return record
  }
}
