// The visitor as one exchange after the other sees it: what it sends, what it takes, and whether it is still there.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { Output } from '../exchange/deadline-writer.ts'
import type { Presence } from '../exchange/disconnect-listener.ts'
import { LINGER_MS } from '../semantics/limits.ts'
import { Input } from './buffered-reader.ts'

export class Peer {
  readonly input: Input
  readonly output: Output
  readonly #stream: ByteStream
  #presence: Presence | undefined
  #failure: { error: unknown } | undefined

  constructor(stream: ByteStream) {
    this.#stream = stream
    this.output = new Output(stream, (error) => this.break(error))
    this.input = new Input(stream, {
      ended: () => {
        this.output.halfClosed()
        this.#presence?.left()
      },
      broken: (error) => this.break(error),
    })
  }

  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  /** Tells `presence` when the visitor leaves, until told otherwise. */
  watch(presence: Presence | undefined): void {
    this.#presence = presence
    if (this.#failure) presence?.broken(this.#failure.error)
    else if (this.input.ended) presence?.left()
  }

  /** What another protocol speaks on from here (RFC 9110 §7.8): what was read ahead comes first. */
  get stream(): ByteStream {
    const { input, output } = this
    const read = async (): Promise<Uint8Array | undefined> => {
      while (input.length === 0) if (!(await input.more(Number.POSITIVE_INFINITY))) return undefined
      return input.take(Number.POSITIVE_INFINITY)
    }
    return {
      read,
      write: (bytes) => output.write(bytes),
      end: () => output.end(),
      abort: (reason) => this.break(reason),
    }
  }

  /** Ends both directions at once. */
  break(error: unknown): void {
    if (this.#failure) return
    this.#finish(error)
    this.#stream.abort(error)
    this.#presence?.broken(error)
  }

  /**
   * Ends our direction, then waits for the visitor's end: a connection that is dropped while the visitor sends is
   * reset, and the reset can overtake the response (RFC 9112 §9.6).
   */
  async close(): Promise<void> {
    await this.output.end()
    const until = performance.now() + LINGER_MS
    do this.input.take(Number.POSITIVE_INFINITY)
    while (await this.input.more(until))
    const closed = new Error('the connection is closed')
    if (this.input.ended) this.#finish(closed)
    else this.break(closed)
  }

  #finish(error: unknown): void {
    this.#failure = { error }
    this.input.fail(error)
    this.output.fail(error)
  }
}
