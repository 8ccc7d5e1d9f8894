// Decodes the body of an HTTP/1.1 request by Content-Length or the chunked coding (RFC 9112 §6.2, §7.1).

import { concat } from '../bytes/concat.ts'
import { HttpError } from '../semantics/http-error.ts'
import {
  CHUNK_EXTENSIONS_BYTES,
  CHUNK_LINE_BYTES,
  CHUNK_SIZE_DIGITS,
  TRAILER_FIELDS,
  TRAILERS_BYTES,
  UNJOINED_MIN_BYTES,
} from './limits.ts'
import type { LineBuffer } from './line-buffer.ts'
import { parseField } from './request-parser.ts'

/** The bytes that a decoder reads. */
export type ByteSource = Pick<LineBuffer, 'readLine' | 'take'>

/** A BodyDecoder finds the end of a body in the bytes of a connection. */
export interface BodyDecoder {
  readonly done: boolean
  /** The number of octets still to come. Infinity when the coding gives no length. */
  readonly left: number
  /**
   * Returns body bytes from `reader`, which may have more. Undefined when more bytes are needed, or when the body is complete.
   */
  decode(reader: ByteSource): Uint8Array | undefined
}

/** A ContentLengthDecoder reads a body of known length. */
export class ContentLengthDecoder implements BodyDecoder {
  left: number

  constructor(length: number) {
    this.left = length
  }

  get done(): boolean {
    return this.left === 0
  }

  decode(reader: ByteSource): Uint8Array | undefined {
    const bytes = reader.take(this.left)
    this.left -= bytes?.length ?? 0
    return bytes
  }
}

// Chunk extensions are legal and ignored. White space in them is refused, because parsers disagree about it.
const CHUNK_LINE =
  /^([\da-fA-F]+)((?:;[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t\x20-~\x80-\xff])*"))?)*)$/
/** Fields that would change framing or routing too late, so no trailer may have them (RFC 9110 §6.5.1). */
const NEVER_TRAILERS = new Set(['content-length', 'transfer-encoding', 'host'])
const LINE_END_BYTES = 2

/** A ChunkedDecoder reads a body in the chunked coding, and drops its trailers. */
export class ChunkedDecoder implements BodyDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailers' | 'done' = 'size'
  #chunkLeft = 0
  #extensionBytes = 0
  #trailerBytes = 0
  #trailerFields = 0

  get done(): boolean {
    return this.#state === 'done'
  }

  get left(): number {
    return this.done ? 0 : Number.POSITIVE_INFINITY
  }

  /** Joins small chunks that have arrived, so that they cost one read in all. */
  decode(reader: ByteSource): Uint8Array | undefined {
    const pieces: Uint8Array[] = []
    const isFull = (): boolean => this.#state === 'data' && (pieces.at(-1)?.length ?? 0) >= UNJOINED_MIN_BYTES
    while (!this.done && !isFull() && this.#step(reader, pieces));
    return pieces.length === 0 ? undefined : concat(pieces)
  }

  /** @returns false when more bytes are needed */
  #step(reader: ByteSource, pieces: Uint8Array[]): boolean {
    if (this.#state === 'data') return this.#data(reader, pieces)
    if (this.#state === 'data-end') return this.#dataEnd(reader)
    return this.#state === 'size' ? this.#size(reader) : this.#trailer(reader)
  }

  #size(reader: ByteSource): boolean {
    const line = reader.readLine(CHUNK_LINE_BYTES, 'invalid_chunk')
    if (line === undefined) return false
    const match = CHUNK_LINE.exec(line)
    if (!match || match[1]!.length > CHUNK_SIZE_DIGITS) throw new HttpError('invalid_chunk')
    this.#extensionBytes += match[2]!.length
    if (this.#extensionBytes > CHUNK_EXTENSIONS_BYTES) throw new HttpError('invalid_chunk')
    this.#chunkLeft = Number.parseInt(match[1]!, 16)
    this.#state = this.#chunkLeft === 0 ? 'trailers' : 'data'
    return true
  }

  #data(reader: ByteSource, pieces: Uint8Array[]): boolean {
    const bytes = reader.take(this.#chunkLeft)
    if (!bytes) return false
    pieces.push(bytes)
    this.#chunkLeft -= bytes.length
    if (this.#chunkLeft === 0) this.#state = 'data-end'
    return true
  }

  #dataEnd(reader: ByteSource): boolean {
    if (reader.readLine(0, 'invalid_chunk') === undefined) return false
    this.#state = 'size'
    return true
  }

  /** Checks and drops trailer fields, which a fetch Request cannot hold. */
  #trailer(reader: ByteSource): boolean {
    const line = reader.readLine(TRAILERS_BYTES - this.#trailerBytes, 'trailers_too_large')
    if (line === undefined) return false
    if (line === '') {
      this.#state = 'done'
      return true
    }
    this.#trailerBytes += line.length + LINE_END_BYTES
    this.#trailerFields += 1
    if (this.#trailerFields > TRAILER_FIELDS || this.#trailerBytes > TRAILERS_BYTES)
      throw new HttpError('trailers_too_large')
    const [name] = parseField(line)
    if (NEVER_TRAILERS.has(name)) throw new HttpError('invalid_field')
    return true
  }
}
