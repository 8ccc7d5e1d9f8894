// The interface between transports and protocols: an ordered, reliable byte stream that half-closes.

/** A ByteStream is a decrypted TLS connection, or a stream of a multiplexed session. */
export interface ByteStream {
  /**
   * True when a write has copied its bytes by the time it resolves: their memory may then be given back.
   * @default false
   */
  readonly copies?: boolean | undefined
  /**
   * Resolves with the next bytes, or undefined at the orderly end. Rejects when the stream broke. Only one read may be
   * pending. The bytes are the caller's: the stream keeps no reference to them and does not write to their memory
   * again.
   */
  read(): Promise<Uint8Array | undefined>
  /**
   * Writes bytes. Resolves when the caller may write more, and rejects when the stream broke. The bytes must not change
   * afterwards.
   */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the caller's direction after everything written. The other direction stays open. */
  end(): Promise<void>
  /**
   * Puts back bytes that were read too far, before another read. A stream that cannot leaves it out.
   */
  unread?(bytes: Uint8Array): void
  /**
   * Ends both directions at once. Pending and later reads and writes reject. It does nothing when the stream is over.
   */
  abort(reason?: unknown): void
}
