// What the owner of a session implements: the transport, and a meter of the memory that sessions take.

/** A Transport sends the messages of a session. Its owner passes incoming bytes to {@link Session.receive}. */
export interface Transport {
  /**
   * Sends one message of complete frames, whose bytes it now owns. While the transport is saturated, it returns
   * a promise: the session sends nothing more (except a last GoAway) until it resolves. A rejection or a throw ends
   * the session.
   */
  send(bytes: Uint8Array<ArrayBuffer>): void | Promise<void>
  /**
   * True while `send` has copied a message when it returns: the session then makes the next one in the same memory,
   * which is cheaper. The session asks before each message.
   */
  readonly copies?: boolean | undefined
  close(): void
}

/**
 * A MemoryMeter counts the bytes that sessions hold, so that their owner can bound them: {@link Session.shed} frees
 * some.
 */
export interface MemoryMeter {
  /**
   * Called with the change of the payload bytes that the session holds: received and unread, or written and unsent.
   * Negative when it holds fewer.
   */
  hold(bytes: number): void
  /** False while no receive window may grow. */
  readonly mayGrow: boolean
}
