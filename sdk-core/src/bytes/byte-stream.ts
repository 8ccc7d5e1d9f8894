// The interface between transports and protocols: an ordered, reliable byte stream with half-close.

/** A ByteStream is a decrypted TLS connection, or a stream of a multiplexed session. */
export interface ByteStream {
  /**
   * True when `write` has copied its bytes by the time it resolves, so that the caller may reuse their memory.
   * @default false
   */
  readonly copies?: boolean | undefined
  /**
   * Resolves with the next bytes, or undefined at the end. Rejects when the stream broke. Only one read may be
   * pending. The bytes are the caller's: the stream keeps no reference to them and does not write to their memory
   * again.
   */
  read(): Promise<Uint8Array | undefined>
  /**
   * Writes bytes. Resolves when the caller may write more; rejects when the stream broke. The caller must not change the bytes
   * afterwards.
   */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the caller's direction after everything written. The other direction stays open. */
  end(): Promise<void>
  /**
   * Puts back bytes that were read beyond what was needed; the next read returns them. Optional.
   */
  unread?(bytes: Uint8Array): void
  /**
   * Ends both directions at once. Pending and later reads and writes reject. Does nothing on a stream that has ended.
   */
  abort(reason?: unknown): void
}
