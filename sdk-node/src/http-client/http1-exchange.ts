// One request on a connection of HTTP/1.1, and its response: the head strictly parsed, the content as bytes with back-pressure.

import type { BodyBatch, DirectBody, DirectResponse, Field } from '@svc/sdk-core'
import {
  type BodyDecoder,
  type ByteSource,
  ChunkedDecoder,
  ContentLengthDecoder,
  HttpError,
} from '@svc/sdk-core/http1'
import type { ConnectionUser, TargetConnection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { Exchange } from './exchange.ts'
import { encodeHead, isChunked, type OutgoingRequest, passedFields } from './outgoing-request.ts'
import { type ResponseHead, ResponseHeadParser } from './response-head.ts'

/** The bytes of a local server's response that may wait for the visitor before the SDK stops reading: one read of a socket. */
const RESPONSE_READ_AHEAD_BYTES = 64 * 1024

export class Http1Exchange extends Exchange<ResponseHead> implements ConnectionUser {
  readonly #connection: TargetConnection
  readonly #pool: ConnectionPool
  readonly #parser: ResponseHeadParser
  #decoder: BodyDecoder | undefined
  #source: ByteSource
  /** The content that came with the head. */
  #first: BodyBatch | undefined
  /** The error after the waiting bytes. */
  #lateFailure: Error | undefined
  #isPaused = false
  #isHeard = false
  #wakeSender: (() => void) | undefined

  constructor(connection: TargetConnection, pool: ConnectionPool, request: OutgoingRequest) {
    super(request, pool.dialer)
    this.#connection = connection
    this.#source = connection.unread
    this.#pool = pool
    this.#parser = new ResponseHeadParser(request.method, (...head) => this.#informed(...head))
    connection.user = this
  }

  /**
   * Sends the request.
   * @returns the response, once its head has arrived and the content with it is valid
   * @throws TargetFault
   * @throws the error of the request's body, or the reason of the cancellation
   */
  async run(): Promise<DirectResponse> {
    if (this.#connection.isOver) this.faulted(new HttpError('incomplete_message'))
    else
      this.#send().catch((error) => {
        this.fail(error)
      })
    await this.headCame.promise
    this.#first = this.ready()
    if (this.failure) throw this.failure.error
    return this
  }

  /** True when no byte of a response arrived. */
  get isUnheard(): boolean {
    return !this.#isHeard
  }

  get statusText(): string {
    return this.head!.statusText
  }

  get fields(): Field[] {
    const { fields, length } = this.head!
    const passed = passedFields(this.request, fields)
    if (length !== undefined) passed.push(['content-length', String(length), 'Content-Length'])
    return passed
  }

  ready(): BodyBatch {
    const first = this.#first
    this.#first = undefined
    if (first) return first
    return this.batchOf(this.isOver ? undefined : this.#take())
  }

  received(): void {
    this.#isHeard = true
    if (this.head) this.wakeReader()
    else this.#readHead()
    if (!this.isOver && this.#connection.unread.length >= RESPONSE_READ_AHEAD_BYTES) {
      this.#isPaused = true
      this.#connection.socket.pause()
    }
  }

  drained(): void {
    this.#wakeSender?.()
    this.#wakeSender = undefined
  }

  ended(): void {
    if (this.head?.framing === 'close') this.wakeReader()
    else this.closed(new HttpError('incomplete_message'))
  }

  closed(error: Error): void {
    // Bytes before the end are still read.
    if (this.head?.framing === 'close' && this.#connection.isEnded) return
    if (this.#decoder && !this.isOver && this.#connection.unread.length > 0) this.#lateFailure = error
    else this.faulted(error)
    this.wakeReader()
  }

  async #send(): Promise<void> {
    const { socket } = this.#connection
    const { body, expectsContinue } = this.request
    const head = encodeHead(this.request)
    this.isSent = !body
    if (!body || expectsContinue) {
      socket.write(head, 'latin1')
      if (!body || !(await this.isContentWanted())) return
    } else {
      // Sends the first bytes of the content with the head.
      socket.cork()
      socket.write(head, 'latin1')
      process.nextTick(() => socket.uncork())
    }
    await this.#sendContent(body)
  }

  #informed(status: number, statusText: string, fields: Field[]): void {
    if (status === 100) this.decided()
    else this.request.inform?.(status, statusText, passedFields(this.request, fields))
  }

  async #sendContent(body: DirectBody): Promise<void> {
    const { socket } = this.#connection
    const hasChunks = isChunked(this.request)
    for (let bytes = await this.readContent(body); bytes; bytes = await this.readContent(body)) {
      if (this.isOver) return
      if (hasChunks) {
        socket.cork()
        socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
        socket.write(bytes)
        socket.write('\r\n', 'latin1')
        socket.uncork()
      } else socket.write(bytes)
      if (socket.writableNeedDrain)
        await new Promise<void>((resolve) => {
          this.#wakeSender = resolve
        })
      if (this.isOver) return
    }
    if (this.isOver) return
    if (hasChunks) socket.write('0\r\n\r\n', 'latin1')
    this.isSent = true
  }

  #readHead(): void {
    try {
      const head = this.#parser.read(this.#connection.unread)
      if (!head) return
      this.head = head
      this.decided()
      this.#decoder = decoderOf(head.framing)
      if (head.framing === 'chunked') this.#source = withoutBlanks(this.#source)
    } catch (error) {
      this.faulted(error)
      return
    }
    if (this.#decoder.done) this.#finish()
    this.headCame.resolve()
  }

  #take(): Uint8Array | undefined {
    const { unread, socket, isEnded } = this.#connection
    let bytes: Uint8Array | undefined
    try {
      bytes = this.#decoder!.decode(this.#source)
    } catch (error) {
      throw this.faulted(error)
    }
    if (this.#decoder!.done || (isEnded && this.head!.framing === 'close' && unread.length === 0))
      this.#finish()
    else if (this.#lateFailure) {
      if (!bytes) this.faulted(this.#lateFailure)
    } else if (this.#isPaused && unread.length < RESPONSE_READ_AHEAD_BYTES) {
      this.#isPaused = false
      socket.resume()
    }
    return bytes
  }

  /** Ends a complete response: the connection is reusable if both sides are in sync. */
  #finish(): void {
    const connection = this.#connection
    const { persistent, keptMs } = this.head!
    this.isOver = true
    connection.user = undefined
    if (this.#isPaused) connection.socket.resume()
    if (persistent && this.isSent && connection.unread.length === 0 && !connection.isOver)
      this.#pool.keep(connection, keptMs)
    else connection.socket.destroy()
    this.drained()
  }

  protected override abandon(): void {
    this.#connection.user = undefined
    this.#connection.socket.destroy()
    this.drained()
  }
}

/** Removes white space around a chunk's size and its extensions, which are ignored (RFC 9112 §7.1.1, BWS). */
function withoutBlanksBetween(line: string): string {
  const [size = '', ...extensions] = line.split(/([;=])/)
  return [size.trimEnd(), ...extensions.map((part) => part.trim())].join('')
}

/** Reads chunk lines without white space, which only requests refuse, because parsers disagree about it. */
function withoutBlanks(source: ByteSource): ByteSource {
  return {
    readLine: (limit, code) => {
      const line = source.readLine(limit, code)
      return code === 'invalid_chunk' ? line && withoutBlanksBetween(line) : line
    },
    take: (max) => source.take(max),
  }
}

function decoderOf(framing: ResponseHead['framing']): BodyDecoder {
  if (framing === 'chunked') return new ChunkedDecoder()
  return new ContentLengthDecoder(framing === 'close' ? Number.POSITIVE_INFINITY : framing)
}
