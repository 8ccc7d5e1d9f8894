// Answers GET and HEAD of a stored file: whole, in part, or with 304 when the visitor has it (RFC 9110 §13, §14).

import type { ServerResponse } from 'node:http'
import { Semaphore } from '@svc/node-kit/semaphore'
import { RESPONSE_UNCOUNTED_BYTES } from '../../../core/api/http/body-writer.ts'
import { isKnown } from '../../../core/http/entity-tag.ts'
import { type ByteRange, readRange } from '../../../core/http/range.ts'
import { type MemoryShare, RequestMemory } from '../../../core/rate-limit/request-memory.ts'
import type { VisitorRequest, VisitorResponse } from '../live-site/live-sites.ts'
import type { BorrowedSnapshot, SnapshotFile } from '../snapshot.ts'
import { FileBodies } from './file-body.ts'
import { FilesInMemory } from './files-in-memory.ts'
import {
  FILE_BYTES_MAX,
  FILE_BYTES_PER_NETWORK_MAX,
  FILE_PIECE_BYTES,
  FILE_PIECE_MIN_BYTES,
  FILE_READS_MAX,
  PIECES_AMPLE_SHARE,
} from './limits.ts'
import { beginInTurn, type Delivery, type DeliveryParts, writePaced } from './pace.ts'
import { negotiated, type Representation, uploaded } from './representation.ts'
import type { VisitorConnection } from './visitor-connection.ts'

const OK = 200
const PARTIAL_CONTENT = 206
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412
const RANGE_NOT_SATISFIABLE = 416

const NO_CONTENT: readonly string[] = ['Content-Length', '0']

/** The content to send after the head, and the snapshot from which it is read. */
interface Content {
  representation: Representation
  /** Undefined for the whole. */
  range: ByteRange | undefined
  borrowed: BorrowedSnapshot
  delivery: Delivery
}

export class FileAnswers {
  readonly #reads = new Semaphore(FILE_READS_MAX)
  readonly #inMemory = new FilesInMemory(this.#reads)
  readonly #bodies = new FileBodies(this.#reads)
  readonly #memory = new RequestMemory({
    perClient: FILE_BYTES_PER_NETWORK_MAX,
    total: FILE_BYTES_MAX,
  })
  readonly #parts: DeliveryParts

  constructor(parts: DeliveryParts) {
    this.#parts = parts
  }

  /**
   * Sends the answer, and releases the snapshot when it is no longer needed.
   * @throws RelayError `rate_limited` when responses to the visitor's network, or to all, hold too much memory, or when
   *   too much must be sent first; Error when the file cannot be read. The head may have been sent then.
   */
  async send(
    request: VisitorRequest,
    response: VisitorResponse,
    connection: VisitorConnection,
    [file, borrowed]: [SnapshotFile, BorrowedSnapshot],
  ): Promise<void> {
    const { limitOf, onSent } = this.#parts
    const delivery = { bandwidth: () => limitOf(borrowed.snapshot), onSent }
    const bandwidth = delivery.bandwidth()
    try {
      if (bandwidth !== undefined) {
        if (!connection.began(response)) return connection.cut()
        if (!(await beginInTurn(response, bandwidth))) return
      }
      const representation = chosen(request, file)
      const range = answerWithoutContent(request, response, representation)
      if (range === 'answered') return
      const content = { representation, range, borrowed, delivery }
      if (bandwidth !== undefined) return await this.#sendLasting(response, connection, content)
      const body = this.#inMemory.get(representation)
      if (body !== undefined && sizeOf(content) <= RESPONSE_UNCOUNTED_BYTES)
        sendAtOnce(response, content, body)
      else if (connection.began(response)) await this.#sendLasting(response, connection, content)
      else connection.cut()
    } finally {
      borrowed.release()
    }
  }

  close(): void {
    this.#inMemory.close()
  }

  async #sendLasting(
    response: VisitorResponse,
    connection: VisitorConnection,
    content: Content,
  ): Promise<void> {
    const share = this.#memory.share(connection.network)
    try {
      // A visitor who waits for bandwidth holds little memory.
      const isAmple = content.delivery.bandwidth() === undefined && this.#isAmpleFor(connection)
      const isSmall = sizeOf(content) <= RESPONSE_UNCOUNTED_BYTES
      const isInMemory = this.#inMemory.suits(content.representation) && (isAmple || isSmall)
      if (isInMemory) await this.#sendFromMemory(response, content, share)
      else
        await this.#sendInPieces(response, content, share, isAmple ? FILE_PIECE_BYTES : FILE_PIECE_MIN_BYTES)
    } finally {
      share.release()
    }
  }

  async #sendFromMemory(response: VisitorResponse, content: Content, share: MemoryShare): Promise<void> {
    const { representation, delivery } = content
    const size = sizeOf(content)
    // The body is shared; TLS encrypts a copy.
    if (size > RESPONSE_UNCOUNTED_BYTES) share.resize(size)
    const body =
      this.#inMemory.get(representation) ?? (await this.#inMemory.read(representation, pathOf(content)))
    if (size <= RESPONSE_UNCOUNTED_BYTES && delivery.bandwidth() === undefined)
      return sendAtOnce(response, content, body)
    if (response.destroyed) return
    sendHead(response, content)
    if (await writePaced(response, partOf(body, content), delivery)) response.end()
  }

  async #sendInPieces(
    response: VisitorResponse,
    content: Content,
    share: MemoryShare,
    pieceBytes: number,
  ): Promise<void> {
    // A piece, and its encrypted copy.
    share.resize(2 * Math.min(sizeOf(content), pieceBytes))
    await this.#bodies.send(response, {
      path: pathOf(content),
      range: content.range ?? { start: 0, end: content.representation.size - 1 },
      pieceBytes,
      delivery: content.delivery,
      sendHead: () => sendHead(response, content),
    })
  }

  /** Returns whether most of the memory is free, for this visitor and for others. */
  #isAmpleFor({ network }: VisitorConnection): boolean {
    const isUsed = this.#memory.usedBy(network) >= FILE_BYTES_PER_NETWORK_MAX * PIECES_AMPLE_SHARE
    return !isUsed && this.#memory.total < FILE_BYTES_MAX * PIECES_AMPLE_SHARE
  }
}

/**
 * A range is taken from the file as uploaded, unless the visitor names the tag of a compressed form: compressed forms
 * appear some time after the upload, and ranges of both do not combine.
 */
function chosen({ method, headers }: VisitorRequest, file: SnapshotFile): Representation {
  const best = negotiated(file, headers['accept-encoding'] as string | undefined)
  if (headers.range === undefined || method !== 'GET') return best
  const condition = headers['if-range']
  const isOfBest = condition !== undefined && condition !== uploaded(file).tag
  return isOfBest ? best : uploaded(file)
}

/** Answers what needs no content. @returns the range to send, undefined for all of it; or that the request was answered */
function answerWithoutContent(
  { method, headers }: VisitorRequest,
  response: VisitorResponse,
  representation: Representation,
): ByteRange | undefined | 'answered' {
  const { tag, size } = representation
  if (!isMatch(headers['if-match'], tag)) {
    end(response, PRECONDITION_FAILED, NO_CONTENT)
    return 'answered'
  }
  if (isKnown(headers['if-none-match'], tag)) {
    end(response, NOT_MODIFIED, representation.common)
    return 'answered'
  }
  const isWhole = method !== 'GET' || (headers['if-range'] ?? tag) !== tag
  const range = isWhole ? undefined : readRange(headers.range, size)
  if (range === 'invalid') {
    end(response, RANGE_NOT_SATISFIABLE, ['Content-Range', `bytes */${size}`, ...NO_CONTENT])
    return 'answered'
  }
  if (method === 'GET' && size > 0) return range
  end(response, OK, representation.whole)
  return 'answered'
}

/** The comparison is strong (§13.1.1). No tag of a stored file has a comma. */
function isMatch(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((one) => one.trim() === tag)
}

/** Sends a response that the kernel takes whole, so it needs no deadline. */
function sendAtOnce(response: VisitorResponse, content: Content, body: Buffer): void {
  if (response.destroyed) return
  sendHead(response, content)
  response.end(partOf(body, content))
  content.delivery.onSent(sizeOf(content))
}

function pathOf({ representation: { file, coding }, borrowed }: Content): string {
  return borrowed.pathOf(file, coding)
}

function partOf(body: Buffer, { range }: Content): Buffer {
  return range === undefined ? body : body.subarray(range.start, range.end + 1)
}

function sendHead(response: VisitorResponse, { representation, range }: Content): void {
  const { whole, content, size } = representation
  if (range === undefined) {
    head(response, OK, whole)
    return
  }
  const { start, end } = range
  const length = ['Content-Length', `${end + 1 - start}`, 'Content-Range', `bytes ${start}-${end}/${size}`]
  head(response, PARTIAL_CONTENT, [...content, ...length])
}

function end(response: VisitorResponse, status: number, fields: readonly string[]): void {
  head(response, status, fields)
  response.end()
}

/** Both kinds of response take alternating names and values. */
function head(response: VisitorResponse, status: number, fields: readonly string[]): void {
  const http1 = response as ServerResponse
  http1.writeHead(status, fields as string[])
}

function sizeOf({ representation, range }: Content): number {
  return range === undefined ? representation.size : range.end + 1 - range.start
}
