// One request on an HTTP/2 stream, and its response: with back-pressure and trailers in both directions.

import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { type BodyBatch, type DirectBody, type DirectResponse, type Field, isGrpc } from '@svc/sdk-core'
import { HttpError } from '@svc/sdk-core/http1'
import { Exchange } from './exchange.ts'
import type { Http2Session, Http2Sessions } from './http2-sessions.ts'
import { type OutgoingRequest, passedFields } from './outgoing-request.ts'
import { INTERIM_RESPONSES_MAX } from './response-head.ts'
import { AnswerError } from './target-fault.ts'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = constants

interface Http2Head {
  status: number
  length: number | undefined
  fields: Field[]
}

export class Http2Exchange extends Exchange<Http2Head> {
  readonly #sessions: Http2Sessions
  #stream: ClientHttp2Stream | undefined
  #trailers: Field[] | undefined
  #interim = 0
  /** True when the target itself ended the content. */
  #isWhole = false

  constructor(sessions: Http2Sessions, request: OutgoingRequest) {
    super(request, sessions.dialer)
    this.#sessions = sessions
  }

  /**
   * Sends the request.
   * @returns the response, once its head has arrived
   * @throws TargetFault
   * @throws the error of the request's body, or the reason of the cancellation
   */
  async run(): Promise<DirectResponse> {
    try {
      const session = await this.#sessions.take()
      if (this.failure) session.release()
      else this.#begin(session)
    } catch (error) {
      if (error instanceof AnswerError) this.faulted(error)
      else this.fail(error)
    }
    await this.headCame.promise
    return this
  }

  /** True when nothing of a response arrived. */
  get isUnheard(): boolean {
    return this.head === undefined && this.#interim === 0
  }

  get statusText(): string {
    return ''
  }

  get fields(): Field[] {
    const { fields, length } = this.head!
    const passed = passedFields(this.request, fields)
    if (length !== undefined) passed.push(['content-length', String(length)])
    return passed
  }

  get trailers(): Field[] | undefined {
    return this.#trailers && passedFields(this.request, this.#trailers)
  }

  ready(): BodyBatch {
    return this.batchOf(this.isOver ? undefined : (this.#stream!.read() ?? undefined))
  }

  /** @throws the error of a session that has just ended */
  #begin(session: Http2Session): void {
    const { body } = this.request
    try {
      this.#stream = session.session.request(headersOf(this.request), {
        endStream: !body,
        waitForTrailers: body !== undefined,
      })
    } catch (error) {
      session.release()
      throw error
    }
    this.#stream.once('close', () => session.release())
    this.#listen(this.#stream)
    if (body) this.#send(this.#stream, body).catch((error) => this.fail(error))
    else this.isSent = true
  }

  #listen(stream: ClientHttp2Stream): void {
    // Node also ends the content when the target resets the stream without an error, after it has closed the stream.
    const push = stream.push.bind(stream)
    stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      if (chunk === null) this.#isWhole ||= !stream.closed
      return push(chunk, encoding)
    }
    stream.on('continue', () => this.decided())
    stream.on('headers', (headers, _, raw) => this.#informed(Number(headers[':status']), fieldsOf(raw)))
    stream.on('response', (headers, flags, raw) => this.#answered(headers, flags, fieldsOf(raw)))
    stream.on('trailers', (_, __, raw) => {
      this.#trailers = fieldsOf(raw)
    })
    stream.on('readable', () => this.wakeReader())
    stream.on('end', () => this.#ended())
    stream.on('error', (error) => this.faulted(error))
    stream.on('close', () => this.faulted(new HttpError('incomplete_message')))
  }

  #informed(status: number, fields: Field[]): void {
    this.#interim += 1
    if (this.#interim > INTERIM_RESPONSES_MAX)
      this.faulted(new AnswerError('answered with too many interim responses'))
    else if (status !== 100) this.request.inform?.(status, '', passedFields(this.request, fields))
  }

  #answered(headers: IncomingHttpHeaders, flags: number, fields: Field[]): void {
    const status = Number(headers[':status'])
    const length = headers['content-length']
    if (status > 599) {
      this.faulted(new AnswerError(`answered with the status ${status}, which HTTP does not have`))
      return
    }
    this.head = {
      status,
      length: status === 204 || length === undefined ? undefined : Number(length),
      fields,
    }
    this.decided()
    if ((flags & NGHTTP2_FLAG_END_STREAM) !== 0) {
      this.#isWhole = true
      this.#ended()
    }
    this.headCame.resolve()
  }

  /** Handles the end of the response: the target does not want the rest of the request (RFC 9113 §8.1). */
  #ended(): void {
    if (this.isOver) return
    if (!this.head || !this.#isWhole) return void this.faulted(new HttpError('incomplete_message'))
    this.isOver = true
    this.decided()
    if (!this.isSent) this.#stream!.close(NGHTTP2_CANCEL)
    this.wakeReader()
  }

  async #send(stream: ClientHttp2Stream, body: DirectBody): Promise<void> {
    stream.once('wantTrailers', () => stream.sendTrailers(Object.fromEntries(trailersOf(this.request))))
    if (this.request.expectsContinue && !(await this.isContentWanted())) return
    // In a gRPC call, the visitor may be silent for any time.
    const deadlineMs = isGrpc(this.request.fields) ? Number.POSITIVE_INFINITY : undefined
    const read = (): Promise<Uint8Array | undefined> => this.readContent(body, deadlineMs)
    for (let bytes = await read(); bytes; bytes = await read()) {
      if (this.isOver || stream.destroyed) return
      if (!stream.write(bytes)) await writable(stream)
    }
    if (this.isOver || stream.destroyed) return
    this.isSent = true
    stream.end()
  }

  protected override abandon(): void {
    this.#stream?.close(NGHTTP2_CANCEL)
    this.#stream?.destroy()
  }
}

/** Joins fields of the same name (RFC 9110 §5.3), because an object has each name once. */
function headersOf({
  method,
  target,
  fields,
  expectsContinue,
  takesTrailers,
}: OutgoingRequest): OutgoingHttpHeaders {
  // A field may have the name of a member of Object.prototype.
  const headers: OutgoingHttpHeaders = Object.create(null)
  headers[':method'] = method
  headers[':path'] = target
  for (const [name, value] of fields) {
    const key = name === 'host' ? ':authority' : name
    const before = headers[key]
    headers[key] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  if (expectsContinue) headers.expect = '100-continue'
  if (takesTrailers) headers.te = 'trailers'
  return headers
}

function trailersOf({ body, readTrailers }: OutgoingRequest): Field[] {
  return readTrailers(body?.trailers ?? [])
}

function fieldsOf(raw: readonly string[]): Field[] {
  const fields: Field[] = []
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]!.startsWith(':')) fields.push([raw[i]!, raw[i + 1]!])
  return fields
}

function writable(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve)
    stream.once('close', resolve)
  })
}
