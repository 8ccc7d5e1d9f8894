// Wraps a yamux stream in a Node Duplex, so that one bridge serves both kinds of carrier.

import { Duplex } from 'node:stream'
import { type Stream, YamuxError } from '@svc/yamux'
import type { CarrierLiveness } from './carrier-liveness.ts'

/** Bytes that a bridge takes from a stream in one read: a little more than the SDKs send in one frame. */
const STREAM_READ_MAX_BYTES = 80 * 1024
/** Fewer bytes of a visitor than this wait for others of the same turn of the event loop, and leave in one write with them. */
const STREAM_WRITE_NOW_MIN_BYTES = 16 * 1024

/** The error of a stream that its peer reset. Every other error ends the whole yamux session. */
const STREAM_RESET = 'stream_reset'

/** Whether an ended session ended together with its carrier. */
export function endedWithCarrier({ errored }: Duplex): boolean {
  return errored instanceof YamuxError && errored.code !== STREAM_RESET
}

/** The liveness of the session's carrier; undefined for a native session, which has no ping. */
export function livenessOf(session: Duplex): CarrierLiveness | undefined {
  return session instanceof StreamDuplex ? session.liveness : undefined
}

/** Takes the bytes of a stream in place of its readable side. */
interface Sink {
  /** Takes bytes, which are valid until it returns. @returns false when the stream has to pause */
  take: (bytes: Uint8Array) => boolean
  /** Called when it took everything, before the stream emits 'end'. */
  end: () => void
}

export class StreamDuplex extends Duplex {
  /** Liveness of the stream's carrier; undefined when it has none. */
  readonly liveness: CarrierLiveness | undefined
  readonly #stream: Stream
  #isReading = false
  #sink: Sink | undefined
  /** The stream passes its bytes to the sink. */
  #isPassing = false
  /** What was read before, and waits for the sink. */
  readonly #before: Uint8Array[] = []
  /** Nothing follows it. */
  #hasEnded = false

  constructor(stream: Stream, liveness?: CarrierLiveness) {
    super({ allowHalfOpen: true })
    this.#stream = stream
    this.liveness = liveness
    // A reset may arrive at any time, also while the session has no holder. The holder listens to 'close'.
    this.on('error', () => {})
    void stream.closed.then(() => this.#settle())
  }

  /**
   * From now on the bytes go to `sink` alone, once the stream is resumed, without a copy and a turn through this stream's
   * buffer. The stream's other events stay what they are.
   */
  passTo(sink: Sink): void {
    this.pause()
    for (let bytes = this.read(); bytes !== null; bytes = this.read()) this.#before.push(bytes)
    this.#sink = sink
    if (!this.#isReading) this.#pass()
  }

  /**
   * Sends what can leave at this moment, unless earlier bytes wait or these are few.
   * @returns the number of bytes that were sent, from the first on; their memory is the caller's again
   */
  writeNow(bytes: Uint8Array): number {
    const isFirst = this.writableLength === 0 && this.writableCorked === 0 && !this.writableEnded
    return isFirst && bytes.length >= STREAM_WRITE_NOW_MIN_BYTES ? this.#stream.writeNow(bytes) : 0
  }

  override resume(): this {
    super.resume()
    this.#flow()
    return this
  }

  override _read(): void {
    if (this.#isReading || this.#sink !== undefined) return
    this.#isReading = true
    this.#stream.read({ maxBytes: STREAM_READ_MAX_BYTES }).then(
      (bytes) => {
        this.#isReading = false
        if (this.#sink === undefined) this.push(bytes ?? null)
        else {
          if (bytes === undefined) this.#hasEnded = true
          else {
            this.#before.push(bytes)
            this.#pass()
          }
          if (!this.isPaused()) this.#flow()
        }
      },
      (error) => this.destroy(error),
    )
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#stream.write(chunk).then(() => done(), done)
  }

  override _final(done: (error?: Error) => void): void {
    this.#stream.end().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stream.abort()
    done(error)
  }

  #pass(): void {
    this.#isPassing = true
    this.#stream.passTo({
      take: (bytes) => this.#give(bytes),
      end: () => this.#finish(),
      fail: (error) => this.destroy(error),
    })
  }

  #flow(): void {
    if (this.#sink === undefined) return
    for (let bytes = this.#before.shift(); bytes !== undefined; bytes = this.#before.shift())
      if (!this.#give(bytes)) return
    if (this.#hasEnded) this.#finish()
    else if (this.#isPassing) this.#stream.resume()
  }

  #give(bytes: Uint8Array): boolean {
    const takesMore = this.#sink?.take(bytes) ?? false
    if (!takesMore) this.pause()
    return takesMore
  }

  #finish(): void {
    this.#hasEnded = false
    this.#sink?.end()
    this.push(null)
    // Only the end is left, which the readable side emits when it flows.
    super.resume()
  }

  /** Reads once, since a reset stream without a reader would go unnoticed. */
  #settle(): void {
    if (this.#sink === undefined && (!this.readableEnded || !this.writableFinished)) this.read(0)
  }
}
