// One stream (RFC 9113 §5.1): the incoming request, the outgoing response, and a window for each.

import type { DisconnectListener } from '../exchange/disconnect-signal.ts'
import type { Field } from '../semantics/fields.ts'
import { DataQueue } from './data-queue.ts'
import { Http2Error, type Http2ErrorCode } from './errors.ts'
import { encodeNumber, MAX_31_BITS, RST_STREAM, WINDOW_UPDATE } from './frame.ts'
import type { HeaderList } from './header-list.ts'
import { STREAM_WINDOW_BYTES, STREAM_WINDOW_MAX_BYTES } from './limits.ts'
import { ReceiveWindow } from './receive-window.ts'
import { Http2RequestBody } from './request-body.ts'

const NOTHING = new Uint8Array(0)

/** A StreamTransport is a stream's view of its connection. */
export interface StreamTransport {
  control(frame: Uint8Array): void
  headers(streamId: number, fields: readonly Field[], isEnd: boolean): void
  data(queue: DataQueue): void
  /** Called when this many octets of the connection's window are free again. */
  consumed(bytes: number, hasWaited: boolean): void
  /**
   * Called when the stream has ended.
   * @param isWhole whether the complete response was sent
   */
  over(stream: Stream, isWhole: boolean): void
}

export class Stream {
  readonly id: number
  readonly dataQueue: DataQueue
  /** The request's body. Undefined when the request ended with its head. */
  readonly body: Http2RequestBody | undefined
  /** True when the head of the response was sent. */
  hasResponded = false
  /** True until the visitor has ended or reset its direction. */
  isRemoteOpen: boolean
  isOver = false
  #isReset = false
  readonly #transport: StreamTransport
  #listener: DisconnectListener | undefined
  readonly #window = new ReceiveWindow(STREAM_WINDOW_BYTES, STREAM_WINDOW_MAX_BYTES)
  /** The octets still missing according to Content-Length. */
  #expected: number | undefined

  constructor(id: number, window: number, isEnd: boolean, transport: StreamTransport) {
    this.id = id
    this.#transport = transport
    this.isRemoteOpen = !isEnd
    this.dataQueue = new DataQueue(id, window, () => this.reset('visitor_stalled'))
    if (!isEnd) this.body = new Http2RequestBody((bytes, hasWaited) => this.#credit(bytes, hasWaited))
  }

  /** Calls `listener` when the visitor leaves. */
  setDisconnectListener(listener: DisconnectListener): void {
    this.#listener = listener
  }

  /** Sets the length that the request must have. */
  expect(length: number | undefined): void {
    this.#expected = length
  }

  /**
   * @param size the frame's size for flow control, in octets
   * @throws Http2Error
   */
  receive(data: Uint8Array, size: number, isEnd: boolean): void {
    if (!this.isRemoteOpen) throw new Http2Error('stream_closed', this.id)
    if (!this.#window.take(size)) throw new Http2Error('window_exceeded', this.id)
    if (this.#expected !== undefined) {
      this.#expected -= data.length
      if (this.#expected < 0) throw new Http2Error('malformed_request', this.id)
    }
    if (isEnd) this.#receiveEnd(data)
    else if (data.length > 0) this.body?.push(data)
    this.#credit(size - data.length, false)
  }

  /**
   * Ends the request (§8.1). A handler's direct path forwards the trailers; a fetch Request cannot hold them.
   * @throws Http2Error
   */
  receiveTrailers(isEnd: boolean, { isMalformed, isTooLarge, pseudo, fields }: HeaderList): void {
    if (!this.isRemoteOpen) throw new Http2Error('stream_closed', this.id)
    if (!isEnd || isMalformed || pseudo.size > 0) throw new Http2Error('malformed_request', this.id)
    if (this.body && !isTooLarge) this.body.trailers = fields
    this.#receiveEnd(NOTHING)
  }

  /** Handles RST_STREAM of the visitor. */
  receiveReset(): void {
    this.isRemoteOpen = false
    this.break(new Http2Error('cancelled', this.id))
  }

  /** @throws Http2Error */
  grow(increment: number): void {
    this.dataQueue.window += increment
    if (this.dataQueue.window > MAX_31_BITS) throw new Http2Error('window_overflow', this.id)
    this.#transport.data(this.dataQueue)
  }

  /** Notes that the visitor ended its direction of the connection. */
  left(error: unknown): void {
    if (this.isRemoteOpen) this.body?.fail(error)
    this.isRemoteOpen = false
    this.#listener?.visitorLeft()
  }

  /**
   * Sends fields. A 2xx before the end of its request omits Content-Length, which END_STREAM replaces: curl
   * 7.88 reads nothing more after that many octets, and then waits for room to send the rest, which it does not see.
   */
  respond(fields: readonly Field[], isEnd: boolean): void {
    if (this.isOver) return
    const isEarly = !isEnd && this.isRemoteOpen && this.#expected !== 0 && fields[0]![1].startsWith('2')
    this.#transport.headers(this.id, isEarly ? fields.filter(isNoLength) : fields, isEnd)
    this.hasResponded ||= !fields[0]![1].startsWith('1')
    if (isEnd) this.#sent()
  }

  /** Writes pieces of the response. Resolves when the caller may write more. */
  async write(pieces: readonly Uint8Array[], size: number, isEnd: boolean): Promise<void> {
    const taken = this.dataQueue.write(pieces, size, isEnd)
    this.#transport.data(this.dataQueue)
    await taken
    if (isEnd) this.#sent()
  }

  /** Sends RST_STREAM, and ends the stream for its reader and writer. */
  reset(code: Http2ErrorCode): void {
    if (this.isOver) return
    const error = new Http2Error(code, this.id)
    this.#transport.control(encodeNumber(RST_STREAM, this.id, error.wireCode))
    this.break(error)
  }

  /** Aborts the stream. */
  break(error: unknown): void {
    if (this.isOver) return
    this.#finish(error, false)
    this.#listener?.connectionBroken(error)
  }

  #receiveEnd(last: Uint8Array): void {
    if (this.#expected) throw new Http2Error('malformed_request', this.id)
    this.isRemoteOpen = false
    if (last.length > 0) this.body?.push(last)
    this.body?.end()
  }

  /** Handles the sent END_STREAM. The request may continue for some time, and is discarded. */
  #sent(): void {
    if (!this.isOver) this.#finish(new Http2Error('content_discarded', this.id), true)
  }

  #finish(error: unknown, isWhole: boolean): void {
    this.isOver = true
    this.#isReset = !isWhole
    this.body?.fail(error)
    this.dataQueue.fail(error)
    this.#transport.over(this, isWhole)
  }

  #credit(bytes: number, hasWaited: boolean): void {
    if (bytes === 0) return
    this.#transport.consumed(bytes, hasWaited)
    if (!this.isRemoteOpen || this.#isReset) return
    const increment = this.#window.give(bytes, hasWaited)
    if (increment > 0) this.#transport.control(encodeNumber(WINDOW_UPDATE, this.id, increment))
  }
}

function isNoLength([name]: Field): boolean {
  return name.toLowerCase() !== 'content-length'
}
