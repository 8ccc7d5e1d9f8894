// A visitor whose socket is at another machine: a stream of the link takes the place of the socket.

import type { Stream } from '@svc/yamux'
import type { VisitorConnection } from '../../../core/reverse/pending-visitor.ts'
import { StreamDuplex } from '../../../core/reverse/stream-duplex.ts'

export class LinkedVisitor extends StreamDuplex implements VisitorConnection {
  readonly isLinked = true
  /** Normalized address of the visitor; undefined when a trusted proxy named no client. */
  readonly remoteAddress: string | undefined
  #bytesRead = 0
  #bytesWritten = 0

  constructor(stream: Stream, clientIp: string | undefined) {
    super(stream)
    this.remoteAddress = clientIp
  }

  get bytesRead(): number {
    return this.#bytesRead
  }

  get bytesWritten(): number {
    return this.#bytesWritten
  }

  override passTo(sink: Parameters<StreamDuplex['passTo']>[0]): void {
    super.passTo({
      ...sink,
      take: (bytes) => {
        this.#bytesRead += bytes.length
        return sink.take(bytes)
      },
    })
  }

  override writeNow(bytes: Uint8Array): number {
    const sent = super.writeNow(bytes)
    this.#bytesWritten += sent
    return sent
  }

  override _write(chunk: Uint8Array, encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#bytesWritten += chunk.length
    super._write(chunk, encoding, done)
  }

  /** Resets the stream, and with it the socket at the other machine. */
  resetAndDestroy(): this {
    return this.destroy()
  }

  destroySoon(): void {
    if (this.writableFinished) this.destroy()
    else {
      this.once('finish', () => this.destroy())
      this.end()
    }
  }
}
