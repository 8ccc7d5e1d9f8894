// A yamux stream as a Node Duplex, so that carriers of every kind join the same bridge.

import { Duplex } from 'node:stream'
import type { Stream } from '@svc/yamux'

export class StreamDuplex extends Duplex {
  readonly #stream: Stream

  constructor(stream: Stream) {
    super({ allowHalfOpen: true })
    this.#stream = stream
    // A reset may come at any moment, also while nobody in particular holds the session; 'close' tells the holder.
    this.on('error', () => {})
    void stream.closed.then(() => this.#settle())
  }

  override _read(): void {
    this.#stream.read().then(
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
