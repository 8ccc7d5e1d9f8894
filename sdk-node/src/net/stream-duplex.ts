// A byte stream as a Node Duplex, for APIs that need sockets.

import { Duplex } from 'node:stream'
import type { ByteStream } from '@svc/sdk-core'

/** How long a visitor has to receive the last bytes of a stream, such as a TLS alert, and to end its direction, in milliseconds. */
export const STREAM_LINGER_MS = 5_000

type Done = (error?: Error) => void

export class StreamDuplex extends Duplex {
  readonly #stream: ByteStream
  /** The last read, which may be pending. */
  #reading: Promise<Uint8Array | undefined> | undefined

  constructor(stream: ByteStream) {
    super({ allowHalfOpen: true })
    this.#stream = stream
  }

  override _read(): void {
    this.#reading = this.#stream.read()
    this.#reading.then(
      (bytes) => this.push(bytes ?? null),
      (error) => this.destroy(error),
    )
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#stream.write(chunk).then(() => done(), done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done)
  }

  override _final(done: Done): void {
    this.#stream.end().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (error) this.#stream.abort(error)
    else void this.#leave()
    done(error)
  }

  /** Lets written bytes arrive, such as the alert that ends a handshake: an abort would overtake them. */
  async #leave(): Promise<void> {
    const linger = setTimeout(() => this.#stream.abort(), STREAM_LINGER_MS)
    try {
      if (!this.writableFinished) await this.#stream.end()
      let bytes = await (this.#reading ?? this.#stream.read())
      while (bytes) bytes = await this.#stream.read()
    } catch {
      this.#stream.abort()
    } finally {
      clearTimeout(linger)
    }
  }
}
