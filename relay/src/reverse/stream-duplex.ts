// A yamux stream as a Node Duplex, so that carriers of every kind join the same bridge.

import { Duplex } from 'node:stream'
import { type Stream, YamuxError } from '@svc/yamux'
import { STREAM_READ_MAX_BYTES } from '../limits.ts'
import type { CarrierLiveness } from './carrier-liveness.ts'

/** The stream is over because its peer said so; every other error ends the connection that it is on. */
const STREAM_RESET = 'stream_reset'

/** Whether a session that is over ended with its WebSocket, and not by itself. */
export function endedWithCarrier({ errored }: Duplex): boolean {
  return errored instanceof YamuxError && errored.code !== STREAM_RESET
}

/** Whether the far end of the session still answers; undefined for a native one, which nobody can ask. */
export function livenessOf(session: Duplex): CarrierLiveness | undefined {
  return session instanceof StreamDuplex ? session.liveness : undefined
}

export class StreamDuplex extends Duplex {
  /** Of the WebSocket that the stream is on; undefined when it is on none. */
  readonly liveness: CarrierLiveness | undefined
  readonly #stream: Stream

  constructor(stream: Stream, liveness?: CarrierLiveness) {
    super({ allowHalfOpen: true })
    this.#stream = stream
    this.liveness = liveness
    // A reset may come at any moment, also while nobody in particular holds the session; 'close' tells the holder.
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

  /** A reset stream that nobody reads from would otherwise go unnoticed. */
  #settle(): void {
    if (!this.readableEnded || !this.writableFinished) this.read(0)
  }
}
