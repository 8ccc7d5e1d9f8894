// The state of one stream: its incoming and outgoing bytes, and its end. `Stream` is the public API.

import { protocolError, YamuxError } from './errors.ts'
import { FLAG, type FrameHeader, type FrameType, TYPE } from './frame.ts'
import { INITIAL_WINDOW_BYTES } from './limits.ts'
import { type ByteSink, ReceiveBuffer } from './receive-buffer.ts'
import type { ReceiveWindow } from './receive-window.ts'
import type { FrameSource } from './scheduler.ts'
import { SendQueue } from './send-queue.ts'

/** A StreamHost is a stream's view of its session. */
export interface StreamHost {
  /** Payloads are valid only until they have been passed on. */
  readonly sharedInput: boolean
  readonly rtt: number | undefined
  /** Called with the change of the number of bytes that the stream holds. */
  hold(bytes: number): void
  /** Called when half a window was read: the window needs the round trip to grow. */
  onBulk(): void
  sendControl(type: FrameType, flags: number, streamId: number, length: number): void
  /** Called when `source` may have bytes to send. */
  ready(source: FrameSource): void
  /** Sends what `source` has, and everything before it, unless the transport is saturated. */
  flush(source: FrameSource): void
  /** Called when `source` will never have bytes again. */
  drop(source: FrameSource): void
  /** Called when the peer accepted a stream that this side opened. */
  onAcknowledged(state: StreamState): void
  /** Called when this side ended the stream, the peer did not, and it was active just now. */
  onHalfClosed(state: StreamState): void
  onOver(state: StreamState): void
}

export class StreamState {
  readonly id: number
  readonly closed: Promise<void>
  readonly #host: StreamHost
  readonly #window: ReceiveWindow
  readonly #received: ReceiveBuffer
  readonly #toSend: SendQueue
  readonly #resolveClosed: () => void
  #acknowledged: boolean
  #peerEnded = false
  /** True when the current data frame has FIN, which takes effect after its payload. */
  #finFollows = false
  #over = false
  #error: YamuxError | undefined

  constructor(id: number, window: ReceiveWindow, host: StreamHost, openedBy: 'us' | 'peer') {
    this.id = id
    this.#window = window
    this.#host = host
    this.#acknowledged = openedBy === 'peer'
    const hold = (bytes: number): void => host.hold(bytes)
    this.#received = new ReceiveBuffer((bytes) => this.#onRead(bytes), hold, host.sharedInput)
    this.#toSend = new SendQueue(id, () => this.#onProgress(), hold)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#resolveClosed = resolve
  }

  /** False while the SYN of this side is unanswered. */
  get acknowledged(): boolean {
    return this.#acknowledged
  }

  /** The error with which either side reset the stream. Undefined while it is open and when it ended normally. */
  get error(): YamuxError | undefined {
    return this.#error
  }

  /** The bytes that wait to be read or to be sent. */
  get held(): number {
    return this.#received.bytes + this.#toSend.bytes
  }

  /** Sends SYN or ACK. Both sides assume the initial window, and a larger one is announced here. */
  announce(): void {
    const flag = this.#acknowledged ? FLAG.ack : FLAG.syn
    this.#host.sendControl(TYPE.windowUpdate, flag, this.id, this.#window.size - INITIAL_WINDOW_BYTES)
  }

  read(signal: AbortSignal | undefined, maxBytes: number | undefined): Promise<Uint8Array | undefined> {
    return this.#received.read(signal, maxBytes)
  }

  passTo(sink: ByteSink): void {
    this.#received.passTo(sink)
  }

  resume(): void {
    this.#received.resume()
  }

  discard(): void {
    this.#received.discard()
    this.#onProgress()
  }

  write(bytes: Uint8Array): Promise<void> {
    const written = this.#toSend.write(bytes)
    this.#host.ready(this.#toSend)
    return written
  }

  writeNow(bytes: Uint8Array): number {
    return this.#toSend.writeNow(bytes, () => this.#host.flush(this.#toSend))
  }

  end(): Promise<void> {
    const ended = this.#toSend.end()
    this.#host.ready(this.#toSend)
    return ended
  }

  /** Ends both directions at once, here and at the peer. */
  reset(error: YamuxError): void {
    if (this.#over) return
    this.#host.sendControl(TYPE.windowUpdate, FLAG.rst, this.id, 0)
    this.#fail(error, false)
  }

  /**
   * Ends the stream without a frame to the peer, because the session is gone. Bytes of a complete stream can still be
   * read.
   */
  abandon(error: YamuxError): void {
    this.#fail(error, true)
  }

  /**
   * Handles the header of a frame.
   * @throws YamuxError when the frame violates the protocol
   */
  onHeader({ type, flags, length }: FrameHeader): void {
    if ((flags & FLAG.ack) !== 0) this.#acknowledge()
    if ((flags & FLAG.rst) !== 0) {
      this.#onReset()
      return
    }
    const fin = (flags & FLAG.fin) !== 0
    if (fin && this.#peerEnded) throw protocolError('unexpected_fin', `second FIN on stream ${this.id}`)

    if (type === TYPE.windowUpdate) {
      this.#toSend.credit(length)
      this.#host.ready(this.#toSend)
    } else if (length > 0) {
      if (this.#peerEnded) throw protocolError('data_after_fin', `data after FIN on stream ${this.id}`)
      if (!this.#window.reserve(length))
        throw protocolError(
          'window_exceeded',
          `data frame of ${length} bytes exceeds the window of stream ${this.id}`,
        )
      this.#finFollows = fin
      return
    }
    if (fin) this.#onFin()
  }

  onPayload(bytes: Uint8Array, last: boolean): void {
    if (this.#over) return
    this.#received.push(bytes)
    if (last && this.#finFollows) this.#onFin()
    else this.#onProgress()
  }

  #acknowledge(): void {
    if (this.#acknowledged) return
    this.#acknowledged = true
    this.#host.onAcknowledged(this)
  }

  #onReset(): void {
    const error = this.#acknowledged
      ? new YamuxError('stream_reset', `stream ${this.id} was reset by the peer`)
      : new YamuxError('stream_refused', `stream ${this.id} was refused by the peer`)
    this.#fail(error, false)
  }

  #onFin(): void {
    this.#peerEnded = true
    this.#received.end()
    this.#onProgress()
  }

  #onRead(bytes: number): void {
    if (!this.#peerEnded) this.#giveCredit(bytes)
    this.#onProgress()
  }

  #giveCredit(bytes: number): void {
    const credit = this.#window.consume(bytes, this.#host.rtt)
    if (credit === 0) return
    this.#host.sendControl(TYPE.windowUpdate, 0, this.id, credit)
    this.#host.onBulk()
  }

  /** Checks whether the stream is over. If only this side ended it, the peer's silence is limited. */
  #onProgress(): void {
    if (this.#over || !this.#toSend.ended) return
    if (this.#received.drained) this.#finish()
    else this.#host.onHalfClosed(this)
  }

  #fail(error: YamuxError, keepComplete: boolean): void {
    if (this.#over) return
    this.#error = error
    this.#received.fail(error, keepComplete)
    this.#toSend.fail(error)
    this.#finish()
  }

  #finish(): void {
    this.#over = true
    this.#window.release()
    this.#host.drop(this.#toSend)
    this.#host.onOver(this)
    this.#resolveClosed()
  }
}
