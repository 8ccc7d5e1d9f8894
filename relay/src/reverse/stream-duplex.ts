// Wraps a yamux stream in a Node Duplex, so that one bridge serves both kinds of carrier.

import { Duplex } from 'node:stream'
import { type Stream, YamuxError } from '@svc/yamux'
import { STREAM_READ_MAX_BYTES } from '../limits.ts'
import type { CarrierLiveness } from './carrier-liveness.ts'

/** The error of a stream that its peer reset. Every other error ends the whole yamux session. */
const STREAM_RESET = 'stream_reset'

/** Whether an ended session ended together with its WebSocket. */
export function endedWithCarrier({ errored }: Duplex): boolean {
  return errored instanceof YamuxError && errored.code !== STREAM_RESET
}

/** The liveness of the session's WebSocket; undefined for a native session, which has no ping. */
export function livenessOf(session: Duplex): CarrierLiveness | undefined {
  return session instanceof StreamDuplex ? session.liveness : undefined
}

export class StreamDuplex extends Duplex {
  /** Liveness of the stream's WebSocket; undefined when it has none. */
  readonly liveness: CarrierLiveness | undefined
  readonly #stream: Stream

  constructor(stream: Stream, liveness?: CarrierLiveness) {
    super({ allowHalfOpen: true })
    this.#stream = stream
    this.liveness = liveness
    // A reset may arrive at any time, also while the session has no holder. The holder listens to 'close'.
    this.on('error', () => {})
    void stream.closed.then(() => this.#settle())
  }

  override _read(): void {
    this.#stream.read({ maxBytes: STREAM_READ_MAX_BYTES }).then(
      (bytes) => this.push(bytes ?? null),
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

  /** Reads once, since a reset stream without a reader would go unnoticed. */
  #settle(): void {
    if (!this.readableEnded || !this.writableFinished) this.read(0)
  }
}
