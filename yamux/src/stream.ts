// The public API of a stream: read, write, end, abort.

import { YamuxError } from './errors.ts'
import type { ByteSink } from './receive-buffer.ts'
import type { StreamState } from './stream-state.ts'

/**
 * Stream is one stream of a session, readable and writable, with half-close and with back-pressure by
 * its window.
 */
export class Stream {
  /** True: a write has copied its bytes by the time it resolves. */
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

  /** The error with which either side reset the stream. Undefined while it is open and when it ended normally. */
  get error(): YamuxError | undefined {
    return this.#state.error
  }

  /**
   * Resolves with the next bytes, one or more, or with undefined at the peer's FIN. The peer gets new credit as they
   * are read. They may be a view of the transport's data: use and change them freely, but do not transfer
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
   * Passes incoming bytes to `sink` from now on, instead of {@link read}, without a copy or a promise for each chunk.
   * It begins with {@link resume}.
   * @throws YamuxError when a read is pending
   */
  passTo(sink: ByteSink): void {
    this.#state.passTo(sink)
  }

  /** Resumes passing bytes to the sink, starting with those received meanwhile. */
  resume(): void {
    this.#state.resume()
  }

  /**
   * Drops unread bytes, and all later ones. The peer gets no more credit. Writing and ending stay possible, so that a
   * refusal can be sent to a peer that keeps sending. Reads return only the end.
   */
  discard(): void {
    this.#state.discard()
  }

  /**
   * Writes bytes. Resolves when all of them went to the transport, within the peer's window and the transport's
   * back-pressure. They are not copied, so do not change them until then.
   * @throws YamuxError when the stream was reset or ended
   */
  write(bytes: Uint8Array): Promise<void> {
    return handled(this.#state.write(bytes))
  }

  /**
   * Sends as many bytes as the peer's window and the transport currently accept, unless an earlier write waits. The
   * caller may change them afterwards. Small writes are cheaper with {@link write}, which joins those of one event-loop
   * turn.
   * @returns the number of bytes sent, from the start; 0 for a closed stream
   */
  writeNow(bytes: Uint8Array): number {
    return this.#state.writeNow(bytes)
  }

  /** Half-closes: FIN follows all writes. Resolves when it was passed to the transport. Reading remains possible. */
  end(): Promise<void> {
    return handled(this.#state.end())
  }

  /**
   * Resets the stream (RST), in both directions: unsent and unread bytes are lost. It has no effect once the stream is closed.
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
