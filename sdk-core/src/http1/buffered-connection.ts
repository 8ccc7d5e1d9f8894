// A visitor's connection, with a reader, a writer, and a listener for its end.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { DeadlineWriter } from '../exchange/deadline-writer.ts'
import type { DisconnectListener } from '../exchange/disconnect-signal.ts'
import { LINGER_MS } from '../semantics/limits.ts'
import { BufferedReader } from './buffered-reader.ts'

export class BufferedConnection {
  readonly reader: BufferedReader
  readonly writer: DeadlineWriter
  readonly #stream: ByteStream
  #listener: DisconnectListener | undefined
  #failure: { error: unknown } | undefined

  constructor(stream: ByteStream) {
    this.#stream = stream
    this.writer = new DeadlineWriter(stream, (error) => this.break(error))
    this.reader = new BufferedReader(stream, {
      ended: () => {
        this.writer.halfClosed()
        this.#listener?.visitorLeft()
      },
      broken: (error) => this.break(error),
    })
  }

  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  /** Calls `listener` when the visitor leaves, until another listener is set. */
  setDisconnectListener(listener: DisconnectListener | undefined): void {
    this.#listener = listener
    if (this.#failure) listener?.connectionBroken(this.#failure.error)
    else if (this.reader.ended) listener?.visitorLeft()
  }

  /**
   * The stream for another protocol after an upgrade (RFC 9110 §7.8). It begins with the bytes that were read ahead.
   */
  get stream(): ByteStream {
    const { reader, writer } = this
    const read = async (): Promise<Uint8Array | undefined> => {
      while (reader.length === 0) if (!(await reader.more(Number.POSITIVE_INFINITY))) return undefined
      return reader.take(Number.POSITIVE_INFINITY)
    }
    return {
      read,
      write: (bytes) => writer.write(bytes),
      end: () => writer.end(),
      abort: (reason) => this.break(reason),
    }
  }

  /** Ends both directions at once. */
  break(error: unknown): void {
    if (this.#failure) return
    this.#finish(error)
    this.#stream.abort(error)
    this.#listener?.connectionBroken(error)
  }

  /**
   * Ends the SDK's direction, then waits for the visitor's end. A connection that is closed while the visitor sends is
   * reset, and the reset can overtake the response (RFC 9112 §9.6).
   */
  async close(): Promise<void> {
    await this.writer.end()
    const until = performance.now() + LINGER_MS
    do while (this.reader.take(Number.POSITIVE_INFINITY));
    while (await this.reader.more(until))
    const closed = new Error('the connection is closed')
    if (this.reader.ended) this.#finish(closed)
    else this.break(closed)
  }

  #finish(error: unknown): void {
    this.#failure = { error }
    this.reader.fail(error)
    this.writer.fail(error)
  }
}
