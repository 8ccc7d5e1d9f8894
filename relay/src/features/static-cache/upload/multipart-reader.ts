// Reads the parts of a multipart/form-data body one after the other, at the pace of their reader (RFC 7578, RFC 2046 §5.1).

import { setImmediate } from 'node:timers/promises'
import { MIMEType } from 'node:util'
import { Dicer } from '@fastify/busboy'
import { RelayError } from '../../../core/errors.ts'

/** Headers of one part of an upload to the cache. Browsers send two. */
export const PART_HEADERS_MAX = 8
/** Bytes of their names and values. */
export const PART_HEADERS_MAX_BYTES: number = 4 * 1024
/** Consecutive bytes of an upload to the cache that are not content of a part. */
export const PART_OVERHEAD_MAX_BYTES: number = 64 * 1024

export interface BodyPart {
  /** Name of the form's field. */
  readonly name: string | undefined
  /** Is read once, before the next part. */
  readonly content: AsyncIterable<Buffer>
}

interface OpenPart {
  name: string | undefined
  hasHeaders: boolean
  chunks: Buffer[]
  isEnded: boolean
}

/** Bytes passed to the parser at once. It makes objects for every part in them, needed or not. */
const PIECE_BYTES = 16 * 1024
/** The parser pauses once a part has this many unread bytes. This reader takes them after each piece. */
const TAKEN_BYTES: number = 2 * PIECE_BYTES
/** RFC 2046 §5.1.1. */
const BOUNDARY_MAX_CHARS = 70
/** Encodings that change nothing. Others are deprecated in forms (RFC 7578 §4.7), and some parsers decode them. */
const IDENTITY = /^\s*(?:binary|7bit|8bit)\s*$/i

/**
 * Takes a piece of the body only when its reader asks for more than is buffered, so that it never holds more than a
 * piece. Every method throws RelayError `invalid_request` for a body that is malformed or ends early, and what the body
 * throws.
 */
export class MultipartReader {
  readonly #body: AsyncIterator<Buffer>
  readonly #parser: Dicer
  readonly #maxParts: number
  #rest: Buffer = Buffer.alloc(0)
  /** Parts whose headers have been parsed, and that the reader has not requested yet. */
  readonly #ready: OpenPart[] = []
  #given: OpenPart | undefined
  #latest: OpenPart | undefined
  #parts = 0
  /** Bytes since the last content of a part. */
  #overhead = 0
  #isComplete = false
  #failure: RelayError | undefined

  /** @throws RelayError `invalid_request` when the type is not multipart/form-data with a boundary */
  constructor(body: AsyncIterable<Buffer>, contentType: string | undefined, maxParts: number) {
    const config: Dicer.Config & Record<string, unknown> = {
      boundary: boundaryOf(contentType),
      partHwm: TAKEN_BYTES,
      // One more than is allowed, since the parser silently drops any beyond it.
      maxHeaderPairs: PART_HEADERS_MAX + 1,
      maxHeaderSize: 2 * PART_HEADERS_MAX_BYTES,
    }
    this.#parser = new Dicer(config)
      .on('part', (stream) => this.#onPart(stream))
      .on('finish', () => {
        this.#isComplete = true
      })
      .on('error', () => this.#fail('the multipart body is malformed'))
    this.#body = body[Symbol.asyncIterator]()
    this.#maxParts = maxParts
  }

  /** @returns undefined after the last part, when the body has ended */
  async next(): Promise<BodyPart | undefined> {
    for (const given = this.#given; given !== undefined && !given.isEnded; ) {
      given.chunks.length = 0
      await this.#readPiece()
    }
    while (this.#ready.length === 0) if (!(await this.#readPiece())) return undefined
    const part = this.#ready.shift()!
    this.#given = part
    return { name: part.name, content: this.#read(part) }
  }

  /** Releases the body, even if a part of it is unread. */
  close(): void {
    this.#fail('the upload is closed')
    this.#ready.length = 0
    this.#parser.destroy()
    this.#body.return?.().catch(() => {})
  }

  async *#read(part: OpenPart): AsyncGenerator<Buffer> {
    for (;;) {
      for (let chunk = part.chunks.shift(); chunk !== undefined; chunk = part.chunks.shift()) yield chunk
      if (part.isEnded) return
      await this.#readPiece()
    }
  }

  /** @returns false when there is no more, after the end of the last part */
  async #readPiece(): Promise<boolean> {
    this.#requireSound()
    const piece = await this.#takePiece()
    if (piece === undefined) {
      if (!this.#isComplete) this.#fail('the multipart body ends early')
      this.#requireSound()
      return false
    }
    if (!this.#isComplete) {
      this.#parser.write(piece)
      // The parser's streams emit in the next ticks what they have found in the piece.
      await setImmediate()
    }
    this.#countOverhead(piece.length)
    this.#requireSound()
    return true
  }

  async #takePiece(): Promise<Buffer | undefined> {
    if (this.#rest.length === 0) {
      const { done, value } = await this.#body.next()
      if (done === true) return undefined
      this.#rest = value
    }
    const piece = this.#rest.subarray(0, PIECE_BYTES)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }

  #onPart(stream: Dicer.PartStream): void {
    const part: OpenPart = { name: undefined, hasHeaders: false, chunks: [], isEnded: false }
    this.#parts += 1
    if (this.#parts > this.#maxParts) this.#fail(`the body has more than ${this.#maxParts} parts`)
    this.#latest = part
    stream.on('error', () => this.#fail('the multipart body is malformed'))
    stream.on('header', (headers) => this.#onHeaders(part, headers as Record<string, string[]>))
    stream.on('data', (chunk: Buffer) => {
      if (this.#failure === undefined) part.chunks.push(chunk)
    })
    stream.on('end', () => {
      part.isEnded = true
      if (!part.hasHeaders) this.#fail('a part has no headers')
    })
  }

  #onHeaders(part: OpenPart, headers: Record<string, string[]>): void {
    const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => name + value))
    const size = lines.reduce((sum, line) => sum + line.length, 0)
    if (lines.length > PART_HEADERS_MAX || size > PART_HEADERS_MAX_BYTES)
      this.#fail(
        `a part has more than ${PART_HEADERS_MAX} headers, or ${PART_HEADERS_MAX_BYTES} bytes of them`,
      )
    // Parsers differ in which one they take.
    if (Object.values(headers).some(({ length }) => length > 1)) this.#fail('a part has a header twice')
    const encoding = headers['content-transfer-encoding']?.[0] ?? 'binary'
    if (!IDENTITY.test(encoding)) this.#fail('a part has a Content-Transfer-Encoding')
    part.hasHeaders = true
    part.name = fieldNameOf(headers['content-disposition']?.[0])
    this.#overhead = 0
    if (this.#failure === undefined) this.#ready.push(part)
  }

  /**
   * Without a limit, headers that never end, and bytes before the first part or after the last, would keep the reader
   * busy.
   */
  #countOverhead(bytes: number): void {
    const isContent = !this.#isComplete && this.#latest?.hasHeaders === true && !this.#latest.isEnded
    this.#overhead = isContent ? 0 : this.#overhead + bytes
    if (this.#overhead > PART_OVERHEAD_MAX_BYTES)
      this.#fail('the multipart body has too many bytes outside of its parts')
  }

  #fail(message: string): void {
    this.#failure ??= new RelayError('invalid_request', message)
  }

  #requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

function boundaryOf(contentType: string | undefined): string {
  const type = parseType(contentType ?? '')
  const boundary = type?.essence === 'multipart/form-data' ? type.params.get('boundary') : undefined
  if (!boundary || boundary.length > BOUNDARY_MAX_CHARS)
    throw new RelayError('invalid_request', 'the body is not multipart/form-data with a boundary')
  return boundary
}

/** The header has the parameters of a media type (RFC 7578 §4.2, RFC 2183 §2). */
function fieldNameOf(disposition: string | undefined): string | undefined {
  const type = parseType(`part/${disposition ?? ''}`)
  return type?.subtype === 'form-data' ? (type.params.get('name') ?? undefined) : undefined
}

function parseType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text)
  } catch {
    return undefined
  }
}
