// What the owner of a session implements: the transport, and a meter of the memory that sessions take.

/** A Transport takes the messages that a session writes. Its owner passes incoming bytes to {@link Session.receive}. */
export interface Transport {
  /**
   * Takes one message of whole frames, and owns its bytes from then on. While the transport is saturated it returns
   * a promise: the session sends nothing more (but a last GoAway) until it resolves. A rejection, or a throw, ends
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
   * Called with the bytes of payload that the session holds from now on: received and unread, or written and unsent.
   * The number is negative for bytes that it holds no more.
   */
  hold(bytes: number): void
  /** False while no receive window may grow. */
  readonly mayGrow: boolean
}
