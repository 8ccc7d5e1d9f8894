// A stream as its user sees it: read, write, end, abort.

import { YamuxError } from './errors.ts'
import type { ByteSink } from './receive-buffer.ts'
import type { StreamState } from './stream-state.ts'

/**
 * Stream is one stream of a session, readable and writable, each direction with its own end and with back-pressure by
 * its window.
 */
export class Stream {
  /** A write has copied its bytes by the time it resolves. */
  readonly copies = true
  readonly #state: StreamState

  constructor(state: StreamState) {
    this.#state = state
  }

  get id(): number {
    return this.#state.id
  }

  /** Resolves when both directions ended and everything was read, or when the stream was reset: see {@link error}. */
  get closed(): Promise<void> {
    return this.#state.closed
  }

  /** The error with which either side reset the stream. Undefined while it lives and when it ended in order. */
  get error(): YamuxError | undefined {
    return this.#state.error
  }

  /**
   * Resolves with the next bytes, one or more, or with undefined at the peer's FIN. The peer gets new credit as they
   * are read. They may be a view of what the transport delivered: use and change them freely, but do not transfer
   * their buffer. Only one read may be pending.
   * @param options `maxBytes` is the most that one read returns; the rest waits, and counts as unread
   * @throws YamuxError when the stream was reset; the signal's reason when aborted, which loses nothing
   */
  read(
    options: { signal?: AbortSignal | undefined; maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array | undefined> {
    return this.#state.read(options.signal, options.maxBytes)
  }

  /**
   * Passes what comes to `sink` from now on, in place of {@link read}, and without a copy or a promise for each piece.
   * It begins with {@link resume}.
   * @throws YamuxError when a read is pending
   */
  passTo(sink: ByteSink): void {
    this.#state.passTo(sink)
  }

  /** Passes bytes to the sink again, beginning with those that came meanwhile. */
  resume(): void {
    this.#state.resume()
  }

  /**
   * Drops unread bytes, and all later ones. The peer gets no more credit. Writing and ending stay possible, so that a
   * refusal can be sent to a peer that goes on sending. Reads return only the end.
   */
  discard(): void {
    this.#state.discard()
  }

  /**
   * Writes bytes. Resolves when all of them went to the transport, within the peer's window and the transport's
   * back-pressure. They are not copied before, so do not change them until then.
   * @throws YamuxError when the stream was reset or ended
   */
  write(bytes: Uint8Array): Promise<void> {
    return handled(this.#state.write(bytes))
  }

  /**
   * Sends as many bytes as the peer's window and the transport take at this moment, unless an earlier write waits. The
   * caller may change them at once. Small writes are cheaper by {@link write}, which joins those of a turn of the event
   * loop.
   * @returns the number of bytes that were sent, from the first on; 0 for a stream that is over
   */
  writeNow(bytes: Uint8Array): number {
    return this.#state.writeNow(bytes)
  }

  /** Half-closes: FIN follows all writes. Resolves when it went to the transport. Reading goes on. */
  end(): Promise<void> {
    return handled(this.#state.end())
  }

  /**
   * Resets the stream (RST), both ways: unsent and unread bytes are lost. It has no effect once the stream is closed.
   */
  abort(reason?: unknown): void {
    this.#state.reset(new YamuxError('stream_aborted', `stream ${this.id} was aborted`, { cause: reason }))
  }
}

/**
 * Marks a rejection as handled: the peer's RST must not end a process that does not await a write. `error` has it as
 * well.
 */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {})
  return promise
}
