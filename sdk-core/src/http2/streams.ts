// The streams of one connection and their state machine (RFC 9113 §5.1).

import type { HttpOptions } from '../exchange/http-options.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { DiscardedRequests } from './discarded-requests.ts'
import { Http2Error } from './errors.ts'
import { sendErrorResponse, serveExchange } from './exchange.ts'
import { encodeNumber, MAX_31_BITS, RST_STREAM } from './frame.ts'
import type { HeaderList } from './header-list.ts'
import { CLOSED_STREAMS_KNOWN, STREAMS_MAX } from './limits.ts'
import { parseHttp2Request } from './request-parser.ts'
import { INITIAL_WINDOW_BYTES } from './settings.ts'
import { Stream, type StreamTransport } from './stream.ts'

interface SharedTransport extends Omit<StreamTransport, 'over'> {
  /** Returns all credit of the connection's window. */
  creditAll(): void
}

export class Streams {
  /** The highest stream number of the visitor that the SDK processed. */
  lastId = 0
  /** True when no more streams may open: frames with higher numbers are ignored. */
  isClosed = false
  readonly #open = new Map<number, Stream>()
  readonly #discarded = new DiscardedRequests((id) => this.#discard(id))
  readonly #closed = new ClosedStreams()
  readonly #options: HttpOptions
  readonly #transport: StreamTransport & SharedTransport
  readonly #ended: (isWhole: boolean) => void
  /** The visitor's SETTINGS_INITIAL_WINDOW_SIZE. */
  #initialWindow = INITIAL_WINDOW_BYTES

  /**
   * @param ended called when a stream ended, or a request that outlived its response; `isWhole` says whether a whole
   *   response was sent
   */
  constructor(options: HttpOptions, transport: SharedTransport, ended: (isWhole: boolean) => void) {
    this.#options = options
    this.#ended = ended
    this.#transport = { ...transport, over: (stream, isWhole) => this.#over(stream, isWhole) }
  }

  /** The number of open streams, and of the requests that outlived their responses. */
  get size(): number {
    return this.#open.size + this.#discarded.size
  }

  /**
   * @returns false when the data will not be read
   * @throws Http2Error
   */
  data(id: number, data: Uint8Array, size: number, isEnd: boolean): boolean {
    const stream = this.#requested(id)
    if (!stream) {
      this.#tolerate(id)
      return false
    }
    stream.receive(data, size, isEnd)
    if (isEnd) this.#endDiscarded(id, true)
    else if (data.length > 0) this.#discarded.progressed(id)
    return true
  }

  /**
   * Handles the head of a request, or its trailers.
   * @throws Http2Error
   */
  headers(id: number, list: HeaderList, isEnd: boolean, isSelfDependent: boolean): void {
    const stream = this.#requested(id)
    if (isSelfDependent) throw new Http2Error('invalid_stream_id', id)
    if (stream) {
      stream.receiveTrailers(isEnd, list)
      this.#endDiscarded(id, true)
    } else if (this.#isIdle(id)) this.#begin(id, list, isEnd)
    else if (!this.#closed.isLate(id))
      throw new Http2Error(this.#closed.has(id) ? 'stream_closed' : 'invalid_stream_id')
  }

  /**
   * Handles the visitor's RST_STREAM.
   * @returns whether the stream was open
   * @throws Http2Error
   */
  reset(id: number): boolean {
    const stream = this.#open.get(id)
    if (stream) stream.receiveReset()
    else if (this.#isIdle(id) && !this.isClosed) throw new Http2Error('unexpected_frame')
    else this.#endDiscarded(id, false)
    return stream !== undefined
  }

  /** @throws Http2Error */
  windowUpdate(id: number, increment: number): void {
    const stream = this.#open.get(id)
    if (stream) stream.grow(increment)
    else if (this.#isIdle(id) && !this.isClosed) throw new Http2Error('unexpected_frame')
  }

  /**
   * Changes the windows of all streams (§6.9.2).
   * @throws Http2Error
   */
  resize(initialWindow: number): void {
    const change = initialWindow - this.#initialWindow
    this.#initialWindow = initialWindow
    for (const stream of this.#open.values()) {
      if (stream.dataQueue.window + change > MAX_31_BITS) throw new Http2Error('window_overflow')
      stream.grow(change)
    }
  }

  /** Ends a stream with RST_STREAM, even one that never was open. */
  fail({ code, wireCode }: Http2Error, id: number): void {
    const stream = this.#open.get(id)
    if (stream) stream.reset(code)
    else {
      this.#transport.control(encodeNumber(RST_STREAM, id, wireCode))
      if (id > this.lastId) return
      this.#closed.add(id, true)
      if (this.#discarded.delete(id)) this.#ended(false)
    }
  }

  /** Notes that the visitor ended its direction of the connection. */
  left(): void {
    for (const stream of this.#open.values()) stream.left(new HttpError('incomplete_message'))
    this.#discarded.close()
  }

  break(error: unknown): void {
    for (const stream of this.#open.values()) stream.break(error)
    this.#discarded.close()
  }

  /** Opens a stream. The visitor's numbers are odd (§5.1.1). */
  #begin(id: number, list: HeaderList, isEnd: boolean): void {
    if (id % 2 === 0) throw new Http2Error('invalid_stream_id')
    if (this.isClosed) return
    this.lastId = id
    if (this.#open.size >= STREAMS_MAX) throw new Http2Error('too_many_streams', id)
    const stream = new Stream(id, this.#initialWindow, isEnd, this.#transport)
    this.#open.set(id, stream)
    try {
      const request = parseHttp2Request(list, id, isEnd, this.#options)
      stream.expect(request.length)
      serveExchange(stream, request, this.#options)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      sendErrorResponse(stream, error, headOf(list))
    }
  }

  /** Returns the stream, if the visitor may still send its request. */
  #requested(id: number): Stream | undefined {
    return this.#open.get(id) ?? this.#discarded.get(id)
  }

  /** Checks DATA for a stream that is not open. */
  #tolerate(id: number): void {
    if (this.#isIdle(id)) {
      if (!this.isClosed) throw new Http2Error('unexpected_frame')
    } else if (!this.#closed.isLate(id)) throw new Http2Error('stream_closed')
  }

  /** Returns whether a stream never was open. Even numbers are the server's, which the SDK never uses. */
  #isIdle(id: number): boolean {
    return id > this.lastId || id % 2 === 0
  }

  #over(stream: Stream, isWhole: boolean): void {
    const { id, isRemoteOpen } = stream
    this.#open.delete(id)
    if (!isWhole || !isRemoteOpen) this.#closed.add(id, isRemoteOpen)
    else this.#discarded.add(stream)
    this.#ended(isWhole)
  }

  /** Tells the visitor that the rest of its request is not read (§8.1). */
  #discard(id: number): void {
    this.fail(new Http2Error('content_discarded', id), id)
  }

  /**
   * Handles the end or reset of a request that outlived its response; ignores others.
   * @param isWhole whether the request ended: curl 7.88 sees the end of both only when a frame follows
   */
  #endDiscarded(id: number, isWhole: boolean): void {
    if (!this.#discarded.delete(id)) return
    this.#closed.add(id, false)
    if (isWhole) this.#transport.creditAll()
    this.#ended(false)
  }
}

/** Returns what was read of a request that is refused. */
function headOf({ pseudo, fields }: HeaderList): Parameters<typeof sendErrorResponse>[2] {
  const host = pseudo.get(':authority')
  const hosts: Field[] = host === undefined ? [] : [['host', host]]
  return { method: pseudo.get(':method') ?? '', fields: [...hosts, ...fields] }
}

/** Remembers recently closed streams, and who closed them: a frame on one is late or an error (RFC 9113 §5.1). */
class ClosedStreams {
  /** Maps streams, oldest first, to whether the SDK closed them, which the visitor may not have known yet. */
  readonly #streams = new Map<number, boolean>()

  add(streamId: number, byUs: boolean): void {
    this.#streams.set(streamId, byUs)
    if (this.#streams.size <= CLOSED_STREAMS_KNOWN) return
    for (const oldest of this.#streams.keys()) {
      this.#streams.delete(oldest)
      return
    }
  }

  has(streamId: number): boolean {
    return this.#streams.has(streamId)
  }

  /** Returns whether frames on the stream may merely be late. */
  isLate(streamId: number): boolean {
    return this.#streams.get(streamId) === true
  }
}
