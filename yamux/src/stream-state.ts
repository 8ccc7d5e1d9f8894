// One stream's state: what arrives for it, what it sends, and when it is over. `Stream` is what users hold of it.

import { protocolError, YamuxError } from './errors.ts'
import { FLAG, type FrameHeader, type FrameType, TYPE } from './frame.ts'
import { INITIAL_WINDOW_BYTES } from './limits.ts'
import { ReceiveBuffer } from './receive-buffer.ts'
import type { ReceiveWindow } from './receive-window.ts'
import type { FrameSource } from './scheduler.ts'
import { SendQueue } from './send-queue.ts'

/** What a stream needs of its session. */
export interface StreamHost {
  readonly rtt: number | undefined
  /** It holds more bytes than before, or fewer. */
  hold(bytes: number): void
  /** Half a window was read: the round trip should be known, for the window to grow. */
  onBulk(): void
  sendControl(type: FrameType, flags: number, streamId: number, length: number): void
  /** `source` may have something to send. */
  ready(source: FrameSource): void
  /** It has not, and never will again. */
  drop(source: FrameSource): void
  /** The peer accepted the stream that we opened. */
  onAcknowledged(state: StreamState): void
  /** We ended it, the peer did not, and it was just alive. */
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
  /** The data frame that is being received carries FIN: it takes effect behind its payload. */
  #finFollows = false
  #over = false
  #error: YamuxError | undefined

  constructor(id: number, window: ReceiveWindow, host: StreamHost, openedBy: 'us' | 'peer') {
    this.id = id
    this.#window = window
    this.#host = host
    this.#acknowledged = openedBy === 'peer'
    const hold = (bytes: number): void => host.hold(bytes)
    this.#received = new ReceiveBuffer((bytes) => this.#onRead(bytes), hold)
    this.#toSend = new SendQueue(id, () => this.#onProgress(), hold)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#resolveClosed = resolve
  }

  /** False while our SYN is unanswered. */
  get acknowledged(): boolean {
    return this.#acknowledged
  }

  /** Why it was reset, by whichever side; undefined while it lives and when it ended in order. */
  get error(): YamuxError | undefined {
    return this.#error
  }

  /** What waits to be read and to be sent, in bytes. */
  get held(): number {
    return this.#received.bytes + this.#toSend.bytes
  }

  /** Sends SYN or ACK. Both sides assume the initial window; a larger one is announced here. */
  announce(): void {
    const flag = this.#acknowledged ? FLAG.ack : FLAG.syn
    this.#host.sendControl(TYPE.windowUpdate, flag, this.id, this.#window.size - INITIAL_WINDOW_BYTES)
  }

  read(signal: AbortSignal | undefined, maxBytes: number | undefined): Promise<Uint8Array | undefined> {
    return this.#received.read(signal, maxBytes)
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

  end(): Promise<void> {
    const ended = this.#toSend.end()
    this.#host.ready(this.#toSend)
    return ended
  }

  /** Ends it both ways at once, here and at the peer. */
  reset(error: YamuxError): void {
    if (this.#over) return
    this.#host.sendControl(TYPE.windowUpdate, FLAG.rst, this.id, 0)
    this.#fail(error, false)
  }

  /** Ends it without a word to the peer: the session is gone. What came whole can still be read. */
  abandon(error: YamuxError): void {
    this.#fail(error, true)
  }

  /** @throws YamuxError when the frame breaks the protocol */
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

  /** It may be over now; if only our side is, its silence is limited. */
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
